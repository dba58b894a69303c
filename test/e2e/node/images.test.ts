import { join } from 'node:path';
import { useCluster } from '../../harness/cluster-fixture';

/** How images come to a node, and who may have them. */
const images = join(__dirname, 'images/private-images.ts');
const { run, apply, read, until } = useCluster(['--nodes=1', '--ephemeral', `--images=${images}`]);

const pod = (name: string, container: object, spec: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: { terminationGracePeriodSeconds: 1, containers: [{ name: 'main', ...container }], ...spec },
});
const ready = (name: string) => run(`wait --for=condition=Ready pod/${name} --timeout=120s`);
const waiting = async (name: string) =>
  JSON.parse(await read(`pod/${name}`, '{.status.containerStatuses[0].state.waiting}')) as {
    reason: string;
    message: string;
  };
/** Reasons and messages of a Pod's events, e.g. `Pulled: Container image …`. */
const events = async (name: string) =>
  (
    await run([
      'get',
      'events',
      `--field-selector=involvedObject.name=${name}`,
      '-o',
      'jsonpath={range .items[*]}{.type} {.reason}: {.message}{"\\n"}{end}',
    ])
  )
    .trim()
    .split('\n');
const privateImage = (tag: string) => ({ image: `registry.example.com/team/app:${tag}` });
const login = (name: string, password: string) => [
  ...['create', 'secret', 'docker-registry', name, '--docker-server=registry.example.com'],
  ...['--docker-username=robot', `--docker-password=${password}`],
];

beforeAll(async () => {
  await run(login('right', 's3cret'));
  await run(login('wrong', 'guessed'));
});

it('pulls what is not there, and not again what is, unless it is asked to', async () => {
  const command = ['sleep', '3600'];
  await apply(pod('first', { image: 'busybox:1.36', command }));
  await ready('first');
  await apply(
    pod('present', { image: 'busybox:1.36', command }),
    pod('never', { image: 'busybox:1.36', imagePullPolicy: 'Never', command }),
    pod('always', { image: 'busybox:1.36', imagePullPolicy: 'Always', command }),
    // Without a tag it is the latest, which is always pulled.
    pod('latest', { image: 'busybox', command }),
  );
  for (const name of ['present', 'never', 'always', 'latest']) await ready(name);
  const pulled =
    /^Normal Pulled: Successfully pulled image "busybox:1\.36" in \d.*s \(\d.*s including waiting\)\. Image size: \d+ bytes\.$/;
  const found =
    'Normal Pulled: Container image "busybox:1.36" already present on machine and can be accessed by the pod';
  await until(async () => {
    expect(await events('first')).toContain('Normal Pulling: Pulling image "busybox:1.36"');
    expect(await events('first')).toContainEqual(expect.stringMatching(pulled));
    expect(await events('present')).toContain(found);
    expect(await events('never')).toContain(found);
    expect(await events('always')).toContainEqual(expect.stringMatching(pulled));
  });
  expect(await read('pod/latest', '{.spec.containers[0].imagePullPolicy}')).toBe('Always');
  await until(async () =>
    expect(await read('node/node-1', '{.status.images[*].names[*]}')).toContain(
      'docker.io/library/busybox:1.36',
    ),
  );
});

it.each([
  ['no-tag', { image: 'nginx:nosuch' }, 'ErrImagePull', /docker\.io\/library\/nginx:nosuch: not found/],
  ['no-image', { image: 'nobody/knows' }, 'ErrImagePull', /pull access denied, repository does not exist/],
  [
    'not-here',
    { image: 'nginx:1.26', imagePullPolicy: 'Never' },
    'ErrImageNeverPull',
    /^Container image "nginx:1\.26" is not present with pull policy of Never$/,
  ],
  [
    'bad-name',
    { image: 'NGINX' },
    'InvalidImageName',
    /^Failed to apply default image tag "NGINX": couldn't parse image name "NGINX": invalid reference format: repository name \(library\/NGINX\) must be lowercase$/,
  ],
])('says why it has no image: %s', async (name, container, reason, message) => {
  await apply(pod(name, container));
  await until(async () => {
    const state = await waiting(name);
    expect([reason, reason.replace('Err', '').replace('Pull', 'PullBackOff')]).toContain(state.reason);
    expect(state.message).toMatch(message);
  });
  await until(async () => expect(await events(name)).toContain(`Warning Failed: Error: ${reason}`));
});

it('pulls again after longer and longer pauses', async () => {
  await until(async () => {
    const state = await waiting('no-tag');
    expect(state.reason).toBe('ImagePullBackOff');
    expect(state.message).toMatch(
      /^Back-off pulling image "nginx:nosuch": ErrImagePull: rpc error: code = NotFound/,
    );
    expect(await events('no-tag')).toContain('Normal BackOff: Back-off pulling image "nginx:nosuch"');
  });
});

it('pulls private images for who has the right Secret, and for nobody else', async () => {
  const secret = (name: string) => ({ imagePullSecrets: [{ name }] });
  await apply(pod('guest', privateImage('1')), pod('guesses', privateImage('1'), secret('wrong')));
  for (const name of ['guest', 'guesses'])
    await until(async () => expect((await waiting(name)).message).toContain('authorization failed'));
  await apply(pod('member', privateImage('1'), secret('right')));
  await ready('member');
  // That it is on the node now helps nobody who may not pull it.
  await apply(pod('neighbour', { ...privateImage('1'), imagePullPolicy: 'IfNotPresent' }));
  await until(async () => expect((await waiting('neighbour')).message).toContain('authorization failed'));
  await apply(pod('absent', privateImage('2'), secret('none')));
  await until(async () =>
    expect(await events('absent')).toContain(
      'Warning FailedToRetrieveImagePullSecret: Unable to retrieve some image pull secrets (none); attempting to pull the image may not succeed.',
    ),
  );
});

it('takes the Secrets of the service account', async () => {
  await run('create serviceaccount puller');
  await run(['patch', 'serviceaccount', 'puller', '-p', '{"imagePullSecrets":[{"name":"right"}]}']);
  await apply(pod('by-account', privateImage('2'), { serviceAccountName: 'puller' }));
  await ready('by-account');
  expect(await read('pod/by-account', '{.spec.imagePullSecrets[*].name}')).toBe('right');
});

it('mounts images as volumes, whole or in part, that nobody can write to', async () => {
  const reference = 'registry.example.com/team/data';
  await apply(
    pod(
      'reader',
      {
        image: 'busybox:1.36',
        command: ['sleep', '3600'],
        volumeMounts: [
          { name: 'data', mountPath: '/data' },
          { name: 'data', mountPath: '/small', subPath: 'models/small' },
        ],
      },
      {
        imagePullSecrets: [{ name: 'right' }],
        volumes: [{ name: 'data', image: { reference, pullPolicy: 'IfNotPresent' } }],
      },
    ),
    pod(
      'no-reader',
      {
        image: 'busybox:1.36',
        command: ['sleep', '3600'],
        volumeMounts: [{ name: 'data', mountPath: '/data' }],
      },
      { volumes: [{ name: 'data', image: { reference: 'nobody/knows:1' } }] },
    ),
  );
  await ready('reader');
  const script = 'cat /data/models/small/weights /small/weights; echo x > /small/weights';
  expect(await run(['exec', 'reader', '--', 'sh', '-c', `(${script}) 2>&1 || true`])).toBe(
    "many numbers\nmany numbers\nsh: can't create /small/weights: Read-only file system\n",
  );
  await until(async () =>
    expect((await waiting('no-reader')).reason).toMatch(/^(ErrImagePull|ImagePullBackOff)$/),
  );
});
