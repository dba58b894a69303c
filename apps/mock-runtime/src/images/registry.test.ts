import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@tinkernetes/component-base/testing';
import { annotationNames } from '../containers/failure-script';
import { startTestRuntime, type TestRuntime } from '../testing/start-runtime';

const prefix = 'mock.tinkernetes.dev/';

describe('pulling', () => {
  const dir = mkdtempSync(join(tmpdir(), 'images-'));
  const file = join(dir, 'images.mts');
  let node: TestRuntime;

  beforeAll(async () => {
    writeFileSync(
      file,
      `import type { ImagesModule } from '@tinkernetes/mock-runtime';
       const images: ImagesModule = ({ defineImage }) => [
         defineImage('registry.acme.com/private/app', async ({ log }) => (await log('let in'), 0), {
           credentials: { username: 'jo', password: 'secret' },
         }),
       ];
       export default images;`,
    );
    node = await startTestRuntime({ images: file });
  });
  afterAll(async () => {
    await node.stop();
    rmSync(dir, { recursive: true });
  });

  const pull = (image: string, more: Parameters<TestRuntime['images']['pullImage']>[0] = {}) =>
    node.images.pullImage({ image: { image }, ...more });
  const annotated = (annotations: Record<string, string>) => ({ sandboxConfig: { annotations } });

  it('takes as long as it is scripted to', async () => {
    const start = performance.now();
    await pull('busybox', annotated({ [`${prefix}pull-delay`]: '300ms' }));
    expect(performance.now() - start).toBeGreaterThanOrEqual(290);
  });

  it('fails with the scripted error', async () => {
    const failing = pull('busybox', annotated({ [`${prefix}pull-error`]: 'toomanyrequests: slow down' }));
    await expect(failing).rejects.toThrow(
      'failed to pull and unpack image "docker.io/library/busybox:latest": toomanyrequests: slow down',
    );
  });

  it.each([
    ['without credentials', undefined],
    ['with the wrong password', { username: 'jo', password: 'guessed' }],
  ])('refuses a private image %s', async (_how, auth) => {
    await expect(pull('registry.acme.com/private/app', { auth })).rejects.toThrow(/pull access denied/);
  });

  it.each([
    ['user name and password', { username: 'jo', password: 'secret' }],
    ['the auth field of a docker config', { auth: Buffer.from('jo:secret').toString('base64') }],
  ])('gives a private image to who has %s', async (_how, auth) => {
    const { imageRef } = await pull('registry.acme.com/private/app', { auth });
    expect(imageRef).not.toBe('');
  });

  it('says what is wrong with a file of images', async () => {
    const broken = join(dir, 'broken.ts');
    writeFileSync(broken, 'export default 5;');
    await expect(startTestRuntime({ images: broken })).rejects.toThrow(/its default export must be a list/);
    writeFileSync(broken, 'export default (;');
    await expect(startTestRuntime({ images: broken })).rejects.toThrow(/Unexpected/);
  });

  it('becomes ready and unready in turns, for connections and for commands', async () => {
    const pod = await node.startPod({
      name: 'flapping',
      image: 'nginx',
      sandbox: { annotations: { [`${prefix}ready-for`]: '200ms', [`${prefix}unready-for`]: '200ms' } },
    });
    const answers = async () => {
      const command = await node.runtime.execSync({ containerId: pod.containerId, cmd: ['true'] });
      const connected = await node.vnet.dial({ host: pod.ip, port: 80 }).then(
        (stream) => Boolean(stream.destroy()),
        () => false,
      );
      return [command.exitCode, connected];
    };
    for (const expected of [
      [0, true],
      [1, false],
      [0, true],
      [1, false],
    ])
      await eventually(async () => expect(await answers()).toEqual(expected));
  });

  it('documents every annotation in one table', () => {
    const readme = readFileSync(join(__dirname, '../../README.md'), 'utf8');
    const names = [...readme.matchAll(/^\| `([\w-]+)` +\|/gm)].map(([, name]) => name);
    expect(names.sort()).toEqual([...annotationNames].sort());
  });
});
