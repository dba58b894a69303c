import { useCluster } from '../../harness/cluster-fixture';

/** Devices: claims made for Pods and taken back, and Pods that leave devices with a taint. */
const { run, attempt, apply, read, until } = useCluster([
  '--nodes=1',
  '--storage=memory',
  '--without=cluster-dns,kube-proxy',
]);

const api = { apiVersion: 'resource.k8s.io/v1' };
const slice = (taints: readonly object[] = []) => ({
  ...api,
  kind: 'ResourceSlice',
  metadata: { name: 'node-1-gpus' },
  spec: {
    driver: 'gpu.example.com',
    nodeName: 'node-1',
    pool: { name: 'node-1', generation: 1, resourceSliceCount: 1 },
    devices: ['gpu-0', 'gpu-1'].map((name) => ({
      name,
      attributes: { model: { string: 'large' } },
      taints,
    })),
  },
});
const request = (own: object = {}) => ({
  devices: { requests: [{ name: 'gpu', exactly: { deviceClassName: 'gpu', ...own } }] },
});
const pod = (name: string, claim: object) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: {
    terminationGracePeriodSeconds: 0,
    resourceClaims: [{ name: 'gpu', ...claim }],
    containers: [{ name: 'main', image: 'nginx', resources: { claims: [{ name: 'gpu' }] } }],
  },
});
const ofTemplate = { resourceClaimTemplateName: 'gpu' };
const claimOf = (name: string) =>
  until(async () => {
    const claim = await read(`pod/${name}`, '{.status.resourceClaimStatuses[0].resourceClaimName}');
    expect(claim).toMatch(new RegExp(`^${name}-gpu-`));
    return claim;
  });
const untilScheduled = (name: string) => run(`wait --for=condition=PodScheduled pod/${name} --timeout=120s`);
const deviceOf = (claim: string) =>
  read(`resourceclaim/${claim}`, '{.status.allocation.devices.results[0].device}');
const untilGone = (resource: string) =>
  until(async () => expect((await attempt(`get ${resource}`)).stderr).toContain('not found'));

beforeAll(async () => {
  await apply(
    {
      ...api,
      kind: 'DeviceClass',
      metadata: { name: 'gpu' },
      spec: {
        selectors: [{ cel: { expression: 'device.attributes["gpu.example.com"].model == "large"' } }],
      },
    },
    {
      ...api,
      kind: 'ResourceClaimTemplate',
      metadata: { name: 'gpu' },
      spec: { metadata: { labels: { from: 'template' } }, spec: request() },
    },
    slice(),
  );
});

it('a template: a claim a Pod, reserved for it, gone with it', async () => {
  await apply(pod('first', ofTemplate), pod('second', ofTemplate));
  await untilScheduled('first');
  await untilScheduled('second');
  const [one, two] = [await claimOf('first'), await claimOf('second')];
  expect([await deviceOf(one), await deviceOf(two)].sort()).toEqual(['gpu-0', 'gpu-1']);
  expect(await read(`resourceclaim/${one}`, '{.status.reservedFor[0].name}')).toBe('first');
  expect(await read(`resourceclaim/${one}`, '{.metadata.labels.from}')).toBe('template');
  expect(await run(`get resourceclaim ${one} --no-headers`)).toMatch(/ allocated,reserved /);
  await apply(pod('third', ofTemplate));
  await until(async () =>
    expect(await run('describe pod third')).toMatch(/FailedScheduling .* cannot allocate all claims/),
  );
  await run('delete pod first');
  await untilGone(`resourceclaim/${one}`);
  await untilScheduled('third');
  expect(await deviceOf(await claimOf('third'))).toBe((await deviceOf(two)) === 'gpu-0' ? 'gpu-1' : 'gpu-0');
  await run('delete pod second third');
});

it('a claim that somebody made: stays, without its device, when no Pod uses it any more', async () => {
  await apply({ ...api, kind: 'ResourceClaim', metadata: { name: 'mine' }, spec: request() });
  const own = { resourceClaimName: 'mine' };
  await apply(pod('shares-a', own), pod('shares-b', own));
  await untilScheduled('shares-a');
  await untilScheduled('shares-b');
  const users = () => read('resourceclaim/mine', '{.status.reservedFor[*].name}');
  expect((await users()).split(' ').sort()).toEqual(['shares-a', 'shares-b']);
  await run('delete resourceclaim mine --wait=false');
  expect(await run('get resourceclaim mine --no-headers')).toMatch(/ deleted,allocated,reserved /);
  await run('delete pod shares-a');
  await until(async () => expect(await users()).toBe('shares-b'));
  await run('delete pod shares-b');
  await untilGone('resourceclaim/mine');
});

it('a template that is missing: says so, and makes the claim once it is there', async () => {
  await apply(pod('early', { resourceClaimTemplateName: 'late' }));
  await until(async () =>
    expect(await run('describe pod early')).toMatch(
      /Warning +FailedResourceClaimCreation .* PodResourceClaim gpu: resource claim template "late": resourceclaimtemplate\.resource\.k8s\.io "late" not found/,
    ),
  );
  await apply({
    ...api,
    kind: 'ResourceClaimTemplate',
    metadata: { name: 'late' },
    spec: { spec: request() },
  });
  await untilScheduled('early');
  await run('delete pod early');
});

it('a device that gets a NoExecute taint: its Pod goes, one that tolerates it stays', async () => {
  const tolerations = [{ key: 'example.com/broken', operator: 'Exists', effect: 'NoExecute' }];
  for (const name of ['fragile', 'tolerant']) {
    const spec = request(name === 'tolerant' ? { tolerations } : {});
    await apply({ ...api, kind: 'ResourceClaim', metadata: { name }, spec });
    await apply(pod(name, { resourceClaimName: name }));
    await untilScheduled(name);
  }
  await apply(slice([{ key: 'example.com/broken', value: 'yes', effect: 'NoExecute' }]));
  await untilGone('pod/fragile');
  await until(async () =>
    expect(
      await read('events', '{.items[?(@.reason=="DeviceTaintManagerEviction")].involvedObject.name}'),
    ).toBe('fragile'),
  );
  await until(async () => expect(await read('resourceclaim/fragile', '{.status.allocation}')).toBe(''));
  expect(await read('pod/tolerant', '{.metadata.deletionTimestamp}')).toBe('');
});
