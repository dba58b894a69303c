import type { KubeObject, Pod } from '@tinkernetes/api';
import { makeNode, makePod } from '../testing/objects';
import { TestCluster } from '../testing/test-cluster';

const driver = 'gpu.example.com';
const nodes = ['a', 'b'].map((name) => makeNode(name, { labels: { rack: `rack-${name}` } }));

const deviceClass = (more: object = {}): KubeObject =>
  ({
    kind: 'DeviceClass',
    metadata: { name: 'gpu' },
    spec: { selectors: [{ cel: { expression: `device.driver == "${driver}"` } }], ...more },
  }) as KubeObject;
const gpu = (name: string, memory = '40Gi', more: object = {}) => ({
  name,
  attributes: { model: { string: 'v100' }, numa: { int: 0 }, driverVersion: { version: '1.2.3' } },
  capacity: { memory: { value: memory } },
  ...more,
});
const slice = (node: string, devices: object[], more: object = {}, pool: object = {}): KubeObject =>
  ({
    kind: 'ResourceSlice',
    metadata: { name: `${node}-${JSON.stringify(pool).length}-${devices.length}` },
    spec: {
      driver,
      pool: { name: node, generation: 1, resourceSliceCount: 1, ...pool },
      nodeName: node,
      devices,
      ...more,
    },
  }) as KubeObject;
const request = (name = 'gpu', more: object = {}) => ({ name, exactly: { deviceClassName: 'gpu', ...more } });
const selecting = (expression: string) => request('gpu', { selectors: [{ cel: { expression } }] });
const claim = (requests: object[], more: object = {}, status: object = {}): KubeObject =>
  ({
    kind: 'ResourceClaim',
    metadata: { name: 'claim', namespace: 'default', uid: 'claim' },
    spec: { devices: { requests, ...more } },
    status,
  }) as KubeObject;
const usingClaim = (name = 'p', claims: Record<string, string> = { gpu: 'claim' }): Pod =>
  makePod(name, {
    spec: {
      resourceClaims: Object.entries(claims).map(([entry, resourceClaimName]) => ({
        name: entry,
        resourceClaimName,
      })),
    },
  });
const allocated = (device: string, more: object = {}) => ({
  allocation: { devices: { results: [{ request: 'gpu', driver, pool: 'a', device }] }, ...more },
});
const onNodeA = {
  nodeSelector: {
    nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['a'] }] }],
  },
};
const everywhere = (reason: string) => ({ a: reason, b: reason });
const none = 'cannot allocate all claims';
const onA = { a: 'ok', b: none };

it.each<{ rule: string; objects: KubeObject[]; expected: Record<string, string> }>([
  {
    rule: 'a device that only one node has',
    objects: [deviceClass(), slice('a', [gpu('g0')]), claim([request()])],
    expected: onA,
  },
  {
    rule: 'fewer devices than asked for',
    objects: [
      deviceClass(),
      slice('a', [gpu('g0'), gpu('g1')]),
      slice('b', [gpu('g0')]),
      claim([request('gpu', { allocationMode: 'ExactCount', count: 2 })]),
    ],
    expected: onA,
  },
  {
    rule: 'a selector on attributes and capacity',
    objects: [
      deviceClass(),
      slice('a', [gpu('g0', '80Gi')]),
      slice('b', [gpu('g0', '40Gi')]),
      claim([
        selecting(
          `device.attributes["${driver}"].model == "v100" && device.attributes["${driver}"].numa == 0 && ` +
            `device.attributes["${driver}"].driverVersion.isGreaterThan(semver("1.2.0")) && ` +
            `device.capacity["${driver}"].memory.compareTo(quantity("80Gi")) >= 0`,
        ),
      ]),
    ],
    expected: onA,
  },
  {
    rule: 'a selector on a domain that the device doesn’t know',
    objects: [
      deviceClass(),
      slice('a', [gpu('g0')]),
      claim([selecting('!has(device.attributes["other.example.com"].x)')]),
    ],
    expected: onA,
  },
  {
    rule: 'the class’s selector',
    objects: [
      deviceClass({ selectors: [{ cel: { expression: 'device.driver == "other"' } }] }),
      slice('a', [gpu('g0')]),
      claim([request()]),
    ],
    expected: everywhere(none),
  },
  {
    rule: 'a class that is not there',
    objects: [slice('a', [gpu('g0')]), claim([request()])],
    expected: everywhere('request gpu: device class gpu does not exist'),
  },
  {
    rule: 'a device that another claim has',
    objects: [
      deviceClass(),
      slice('a', [gpu('g0')]),
      slice('b', [gpu('g0')]),
      claim([request()]),
      { ...claim([request()], {}, allocated('g0')), metadata: { name: 'other', namespace: 'x', uid: 'o' } },
    ],
    expected: { a: none, b: 'ok' },
  },
  {
    rule: 'a tainted device',
    objects: [
      deviceClass(),
      slice('a', [gpu('g0', '1Gi', { taints: [{ key: 'hot', effect: 'NoSchedule' }] })]),
      slice('b', [gpu('g0', '1Gi', { taints: [{ key: 'dim', effect: 'NoSchedule' }] })]),
      claim([request('gpu', { tolerations: [{ key: 'hot', operator: 'Exists' }] })]),
    ],
    expected: onA,
  },
  {
    rule: 'a pool that is being published',
    objects: [deviceClass(), slice('a', [gpu('g0')], {}, { resourceSliceCount: 2 }), claim([request()])],
    expected: everywhere(none),
  },
  {
    rule: 'a pool of which only the newest generation counts',
    objects: [
      deviceClass(),
      slice('a', [gpu('g0'), gpu('g1')], {}, { generation: 1 }),
      slice('a', [gpu('g0')], {}, { generation: 2 }),
      claim([request('gpu', { count: 2 })]),
    ],
    expected: everywhere(none),
  },
  {
    rule: 'devices for the nodes that a selector names',
    objects: [
      deviceClass(),
      slice('net', [gpu('g0')], {
        nodeName: undefined,
        nodeSelector: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: 'rack', operator: 'In', values: ['rack-a'] }] }],
        },
      }),
      claim([request()]),
    ],
    expected: onA,
  },
  {
    rule: 'requests whose devices must have an attribute in common',
    objects: [
      deviceClass(),
      slice('a', [
        gpu('g0'),
        gpu('g1', '1Gi', { attributes: { numa: { int: 1 } } }),
        gpu('g2', '2Gi', { attributes: { numa: { int: 1 } } }),
      ]),
      slice('b', [gpu('g0'), gpu('g1', '1Gi', { attributes: { numa: { int: 1 } } })]),
      claim([request('x'), request('y')], { constraints: [{ matchAttribute: `${driver}/numa` }] }),
    ],
    expected: onA,
  },
  {
    rule: 'all devices that match, which includes used ones',
    objects: [
      deviceClass(),
      slice('a', [gpu('g0'), gpu('g1')]),
      slice('b', [gpu('g0'), gpu('g1')]),
      claim([request('gpu', { allocationMode: 'All' })]),
      { ...claim([request()], {}, allocated('g1')), metadata: { name: 'other', namespace: 'x', uid: 'o' } },
    ],
    expected: { a: none, b: 'ok' },
  },
  {
    rule: 'a claim that is allocated on one node',
    objects: [claim([request()], {}, allocated('g0', onNodeA))],
    expected: { a: 'ok', b: 'resourceclaim not available on the node' },
  },
  {
    rule: 'a claim that is not there',
    objects: [],
    expected: everywhere('resourceclaim.resource.k8s.io "claim" not found'),
  },
  {
    rule: 'alternatives, which are not supported',
    objects: [
      deviceClass(),
      claim([{ name: 'gpu', firstAvailable: [{ name: 'big', deviceClassName: 'gpu' }] }]),
    ],
    expected: everywhere(
      'resource claim default/claim, request gpu: alternatives (firstAvailable) are not supported',
    ),
  },
  ...[
    { consumesCounters: [{ counterSet: 'set', counters: { memory: { value: '1Gi' } } }] },
    { allowMultipleAllocations: true },
    { bindingConditions: ['Attached'], bindingFailureConditions: ['Failed'] },
  ].map((special) => ({
    rule: `a device that is not supported: ${Object.keys(special).join()}`,
    objects: [deviceClass(), slice('a', [{ ...gpu('g0'), ...special }]), claim([request()])],
    expected: {
      a: `${none}: 1 device(s) that are shared, partitioned or bound late are not supported`,
      b: none,
    },
  })),
  {
    rule: 'admin access, which is not supported',
    objects: [deviceClass(), claim([request('gpu', { adminAccess: true })])],
    expected: everywhere('resource claim default/claim, request gpu: admin access is not supported'),
  },
])('dynamic resources: $rule', ({ objects, expected }) => {
  expect(new TestCluster({ nodes, objects }).verdicts(usingClaim())).toEqual(expected);
});

it('fails the attempt, and says which selector, when an expression is broken', () => {
  const objects = [deviceClass(), slice('a', [gpu('g0')]), claim([selecting('device.attributes.x.y')])];
  expect(() => new TestCluster({ nodes, objects }).place(usingClaim())).toThrow(
    /claim default\/claim: selector #0: CEL runtime error: no such key: y/,
  );
});

it('leaves a Pod out of the queue until the claim of its template is made', () => {
  const cluster = new TestCluster({ nodes });
  const pod = makePod('p', { spec: { resourceClaims: [{ name: 'gpu', resourceClaimTemplateName: 't' }] } });
  expect(cluster.framework.preEnqueue(pod)).toMatchObject({
    plugin: 'DynamicResources',
    reasons: ['pod "default/p": ResourceClaim not created yet'],
  });
});
