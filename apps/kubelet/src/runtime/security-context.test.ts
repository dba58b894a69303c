import type { Container, Pod } from '@tinkernetes/api';
import type { ImageUser } from '../images/image-manager';
import { containerSecurityContext, verifyRunAsNonRoot } from './security-context';

const pod = (securityContext: Pod['spec']['securityContext'] = {}): Pod => ({
  metadata: { name: 'p', namespace: 'default', uid: 'u' },
  spec: { securityContext, containers: [] },
});
const container = (securityContext: Container['securityContext'] = {}): Container => ({
  name: 'c',
  securityContext,
});
const root: ImageUser = { uid: 0, username: '' };
const numeric: ImageUser = { uid: 101, username: '' };
const named: ImageUser = { uid: undefined, username: 'nginx' };
const where = '(pod: "p_default(u)", container: c)';

describe('verifyRunAsNonRoot', () => {
  it.each<[string, Pod, Container, ImageUser]>([
    ['nobody asks', pod(), container(), root],
    ['the image has a number', pod({ runAsNonRoot: true }), container(), numeric],
    ['the spec has a number', pod({ runAsNonRoot: true }), container({ runAsUser: 5 }), root],
    ['the container allows it', pod({ runAsNonRoot: true }), container({ runAsNonRoot: false }), root],
  ])('lets run where %s', (_, p, c, image) => expect(() => verifyRunAsNonRoot(p, c, image)).not.toThrow());

  it.each<[string, Pod, Container, ImageUser, string]>([
    [
      'an image of root',
      pod({ runAsNonRoot: true }),
      container(),
      root,
      `container has runAsNonRoot and image will run as root ${where}`,
    ],
    [
      'runAsUser 0',
      pod({ runAsUser: 0 }),
      container({ runAsNonRoot: true }),
      numeric,
      `container's runAsUser breaks non-root policy ${where}`,
    ],
    [
      'a user whose number only the image knows',
      pod(),
      container({ runAsNonRoot: true }),
      named,
      `container has runAsNonRoot and image has non-numeric user (nginx), cannot verify user is non-root ${where}`,
    ],
  ])('refuses %s', (_, p, c, image, message) =>
    expect(() => verifyRunAsNonRoot(p, c, image)).toThrow(message),
  );
});

describe('containerSecurityContext', () => {
  it.each<[string, Pod, Container, ImageUser, number | undefined, string]>([
    ['the container says', pod({ runAsUser: 1 }), container({ runAsUser: 2 }), numeric, 2, ''],
    ['the Pod says', pod({ runAsUser: 1 }), container(), named, 1, ''],
    ['the image says by number', pod(), container(), numeric, 101, ''],
    ['the image says by name', pod(), container(), named, undefined, 'nginx'],
  ])('runs as whom %s', (_, p, c, imageUser, uid, username) => {
    const context = containerSecurityContext(p, c, { imageUser });
    expect(context.runAsUser?.value).toBe(uid);
    expect(context.runAsUsername).toBe(username);
  });
});
