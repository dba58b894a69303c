import type { Pod } from '@tinkernetes/api';
import { withAppArmorFields } from './apparmor';

const pod = (profile: string): Pod => ({
  metadata: { name: 'p', annotations: { 'container.apparmor.security.beta.kubernetes.io/c': profile } },
  spec: { containers: [{ name: 'c', image: 'i' }] },
});

describe('AppArmor annotations', () => {
  it.each([
    ['unconfined', { type: 'Unconfined' }, 1],
    ['localhost/x', { type: 'Localhost', localhostProfile: 'x' }, 1],
    ['nonsense', undefined, 1],
  ])('%s become fields with a warning', (annotation, profile, count) => {
    const warnings: string[] = [];
    const changed = withAppArmorFields(pod(annotation), { warn: (text) => warnings.push(text) });
    expect(changed.spec?.containers[0]?.securityContext?.appArmorProfile).toEqual(profile);
    expect(warnings).toHaveLength(count);
  });
});
