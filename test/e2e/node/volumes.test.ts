import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { useCluster } from '../../harness/cluster-fixture';

/** What containers find at their mount paths. */
const { run, attempt, apply, read, until } = useCluster(['--nodes=1', '--ephemeral']);
const directory = mkdtempSync(join(tmpdir(), 'tk-volumes-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

interface Mounted {
  volume: object;
  path: string;
  mount?: object;
}
/** A Pod that waits, with each volume mounted at its path. */
const pod = (name: string, mounted: readonly Mounted[], more: { env?: object[]; labels?: object } = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, labels: more.labels },
  spec: {
    terminationGracePeriodSeconds: 1,
    containers: [
      {
        name: 'main',
        image: 'busybox',
        command: ['sleep', '3600'],
        env: more.env,
        volumeMounts: mounted.map(({ path, mount }, i) => ({ name: `v${i}`, mountPath: path, ...mount })),
      },
    ],
    volumes: mounted.map(({ volume }, i) => ({ name: `v${i}`, ...volume })),
  },
});
const ready = (name: string) => run(`wait --for=condition=Ready pod/${name} --timeout=120s`);
const inside = (name: string, script: string) => run(['exec', name, '--', 'sh', '-c', script]);
const complaints = async (name: string, script: string) =>
  (await attempt(['exec', name, '--', 'sh', '-c', script])).stderr;
const failedMounts = (name: string) =>
  run([
    ...['get', 'events', `--field-selector=involvedObject.name=${name},reason=FailedMount`],
    ...['-o', 'jsonpath={.items[*].message}'],
  ]);

beforeAll(async () => {
  await run('create configmap settings --from-literal=colour=red --from-literal=size=big');
  await run('create secret generic keys --from-literal=user=admin --from-literal=pass=s3cret');
});

it('emptyDir: shared by the containers of a Pod, in memory if wanted, gone with the Pod', async () => {
  const two = pod('scratch', [
    { volume: { emptyDir: {} }, path: '/scratch' },
    { volume: { emptyDir: { medium: 'Memory', sizeLimit: '64Mi' } }, path: '/memory' },
  ]);
  const [main] = two.spec.containers;
  const writer = { ...main, name: 'writer', command: ['sh', '-c', 'echo hi > /scratch/said; sleep 3600'] };
  await apply({ ...two, spec: { ...two.spec, containers: [main, writer] } });
  await ready('scratch');
  await until(async () => expect(await inside('scratch', 'cat /scratch/said')).toBe('hi\n'));
  expect(await inside('scratch', 'stat -c %a /scratch')).toBe('777\n');
  expect(await inside('scratch', 'mount | grep /memory')).toMatch(/^tmpfs on \/memory type tmpfs \(rw,/);
  await run('delete pod scratch --now');
  await apply(pod('scratch', [{ volume: { emptyDir: {} }, path: '/scratch' }]));
  await ready('scratch');
  expect(await inside('scratch', 'ls /scratch')).toBe('');
});

it('hostPath: what is on the machine, if it is what the Pod expects', async () => {
  writeFileSync(join(directory, 'file'), 'from the machine\n');
  const hostPath = (path: string, type: string) => ({ hostPath: { path: join(directory, path), type } });
  await apply(
    pod('host', [
      { volume: hostPath('', 'Directory'), path: '/host' },
      { volume: hostPath('file', 'File'), path: '/one', mount: { readOnly: true } },
      { volume: hostPath('made/here', 'DirectoryOrCreate'), path: '/made' },
    ]),
    pod('no-host', [{ volume: hostPath('missing', 'Directory'), path: '/host' }]),
  );
  await ready('host');
  expect(await inside('host', 'cat /host/file /one; echo back > /made/answer')).toBe(
    'from the machine\nfrom the machine\n',
  );
  expect(readFileSync(join(directory, 'made/here/answer'), 'utf8')).toBe('back\n');
  expect(await complaints('host', 'echo x > /one')).toContain('Read-only file system');
  await until(async () =>
    expect(await failedMounts('no-host')).toContain(
      `MountVolume.SetUp failed for volume "v0" : hostPath type check failed: ${directory}/missing is not a directory`,
    ),
  );
});

it('configMap and secret: keys as files, chosen, renamed, with modes, optional, never written to', async () => {
  const items = [{ key: 'colour', path: 'deep/colour.txt', mode: 0o640 }];
  await apply(
    pod('objects', [
      { volume: { configMap: { name: 'settings' } }, path: '/all' },
      { volume: { configMap: { name: 'settings', items, defaultMode: 0o400 } }, path: '/some' },
      { volume: { secret: { secretName: 'keys', defaultMode: 0o400 } }, path: '/keys' },
      { volume: { configMap: { name: 'nowhere', optional: true } }, path: '/none' },
    ]),
    pod('no-objects', [{ volume: { secret: { secretName: 'nowhere' } }, path: '/none' }]),
  );
  await ready('objects');
  expect(await inside('objects', 'cd /all; grep . *; ls /none; cat /some/deep/colour.txt /keys/user')).toBe(
    'colour:red\nsize:big\nredadmin',
  );
  expect(
    await inside(
      'objects',
      'cd /; for f in all/size some/deep/colour.txt keys/pass; do stat -c %a $(realpath $f); done',
    ),
  ).toBe('644\n640\n400\n');
  for (const path of ['/all', '/keys'])
    expect(await complaints('objects', `touch ${path}/new`)).toContain('Read-only file system');
  await until(async () =>
    expect(await failedMounts('no-objects')).toContain(
      'MountVolume.SetUp failed for volume "v0" : secret "nowhere" not found',
    ),
  );
  await run('create secret generic nowhere --from-literal=a=b');
  await ready('no-objects');
});

it('changes of a ConfigMap, a Secret and labels reach a running container, but not through a subPath', async () => {
  const labels = { fieldRef: { fieldPath: 'metadata.labels' } };
  await run('create configmap live --from-literal=a=one');
  await run('create secret generic live --from-literal=a=one');
  await apply(
    pod(
      'live',
      [
        { volume: { configMap: { name: 'live' } }, path: '/map' },
        { volume: { secret: { secretName: 'live' } }, path: '/secret' },
        { volume: { downwardAPI: { items: [{ path: 'labels', ...labels }] } }, path: '/pod' },
        { volume: { configMap: { name: 'live' } }, path: '/sub', mount: { subPath: 'a' } },
      ],
      { labels: { tier: 'front' } },
    ),
  );
  await ready('live');
  const all = 'cat /map/a /secret/a /sub /pod/labels';
  expect(await inside('live', all)).toBe('oneoneonetier="front"');
  await run(['patch', 'configmap', 'live', '-p', '{"data":{"a":"two"}}']);
  await run(['patch', 'secret', 'live', '-p', '{"stringData":{"a":"two"}}']);
  await run('label pod live tier=back --overwrite');
  await until(async () => expect(await inside('live', all)).toBe('twotwoonetier="back"'));
});

it('immutable objects stay as they are', async () => {
  await run(['patch', 'configmap', 'live', '-p', '{"immutable":true}']);
  const patched = await attempt(['patch', 'configmap', 'live', '-p', '{"data":{"a":"three"}}']);
  expect(patched.stderr).toContain('field is immutable when `immutable` is set');
});

it('projected: several sources in one place, with a token for an audience', async () => {
  const sources = [
    { serviceAccountToken: { path: 'token', audience: 'vault', expirationSeconds: 600 } },
    { configMap: { name: 'settings', items: [{ key: 'size', path: 'cfg/size' }] } },
    { secret: { name: 'keys' } },
    {
      downwardAPI: {
        items: [
          { path: 'name', fieldRef: { fieldPath: 'metadata.name' } },
          { path: 'cpu', resourceFieldRef: { containerName: 'main', resource: 'limits.cpu', divisor: '1m' } },
        ],
      },
    },
  ];
  await apply(pod('projected', [{ volume: { projected: { sources } }, path: '/all' }]));
  await ready('projected');
  const milliCPU = 1000 * Number(await read('node/node-1', '{.status.allocatable.cpu}'));
  expect(await inside('projected', 'cd /all; cat cfg/size user name cpu')).toBe(
    `bigadminprojected${milliCPU}`,
  );
  const token = (await inside('projected', 'cat /all/token')).split('.')[1] ?? '';
  const claims = JSON.parse(Buffer.from(token, 'base64url').toString()) as Record<string, unknown>;
  expect(claims).toMatchObject({
    aud: ['vault'],
    sub: 'system:serviceaccount:default:default',
    'kubernetes.io': { pod: { name: 'projected' }, node: { name: 'node-1' } },
  });
  expect(Number(claims.exp) - Number(claims.iat)).toBe(600);
});

it('subPath and subPathExpr: parts of a volume, made where they are missing', async () => {
  const env = [{ name: 'POD', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }];
  const volume = { hostPath: { path: directory } };
  await apply(
    pod(
      'parts',
      [
        { volume, path: '/logs', mount: { subPathExpr: 'logs/$(POD)' } },
        { volume, path: '/data', mount: { subPath: 'data' } },
      ],
      { env },
    ),
  );
  await ready('parts');
  await inside('parts', 'echo hi > /logs/today; echo ho > /data/file');
  expect(readFileSync(join(directory, 'logs/parts/today'), 'utf8')).toBe('hi\n');
  expect(readFileSync(join(directory, 'data/file'), 'utf8')).toBe('ho\n');
});

it('claims, volumes that live as long as the Pod, and inline volumes of a CSI driver', async () => {
  const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '16Mi' } } };
  const claim = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'kept' }, spec };
  const user = pod('claims', [
    { volume: { persistentVolumeClaim: { claimName: 'kept' } }, path: '/kept' },
    { volume: { ephemeral: { volumeClaimTemplate: { spec } } }, path: '/lent' },
    { volume: { csi: { driver: 'hostpath.csi.tinkernetes.dev' } }, path: '/inline' },
  ]);
  const reads = { persistentVolumeClaim: { claimName: 'kept', readOnly: true } };
  await apply(claim, user);
  await ready('claims');
  expect(await inside('claims', 'for at in kept lent inline; do echo $at > /$at/f; done; cat /kept/f')).toBe(
    'kept\n',
  );
  await apply(pod('reads', [{ volume: reads, path: '/kept' }]));
  await ready('reads');
  expect(await inside('reads', 'cat /kept/f')).toBe('kept\n');
  expect(await complaints('reads', 'echo x > /kept/f')).toContain('Read-only file system');
  expect(await read('pvc/claims-v1', '{.metadata.ownerReferences[0].name}')).toBe('claims');
  await run('delete pod claims --now');
  await until(async () => expect((await attempt('get pvc claims-v1')).stderr).toContain('not found'));
  await apply(user);
  await ready('claims');
  expect(await inside('claims', 'cat /kept/f; ls /lent; ls /inline')).toBe('kept\n');
});
