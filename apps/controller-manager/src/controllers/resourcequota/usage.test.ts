import type { KubeObject, Pod, ResourceQuota, ScopedResourceSelectorRequirement } from '@tinkernetes/api';
import { resourceOfName, usedOf } from './usage';

it.each([
  ['pods', 'pods'],
  ['cpu', 'pods'],
  ['limits.memory', 'pods'],
  ['requests.nvidia.com/gpu', 'pods'],
  ['requests.storage', 'persistentvolumeclaims'],
  ['gold.storageclass.storage.k8s.io/requests.storage', 'persistentvolumeclaims'],
  ['services.loadbalancers', 'services'],
  ['count/deployments.apps', 'deployments.apps'],
  ['configmaps', 'configmaps'],
])('%s is counted by %s', (name, resource) => {
  expect(resourceOfName(name)).toBe(resource);
});

const quota = (hard: Record<string, string>, scopes?: string[]): ResourceQuota => ({
  metadata: { name: 'q' },
  spec: { hard, scopes: scopes as never },
});
const pod = (cpu: string | undefined, change: Partial<Pod> = {}): Pod => ({
  metadata: { name: 'p' },
  spec: { containers: [{ name: 'main', resources: cpu ? { requests: { cpu } } : {} }] },
  status: { phase: 'Running' },
  ...change,
});
const of = (resource: string, ...objects: KubeObject[]) => ({ group: '', resource, objects });
const done: Partial<Pod> = { status: { phase: 'Succeeded' } };

it.each([
  [
    'sums what Pods ask for',
    quota({ 'requests.cpu': '4' }),
    [of('pods', pod('500m'), pod('1'))],
    { 'requests.cpu': '1500m' },
  ],
  [
    'has 0 of what nobody uses',
    quota({ pods: '3', configmaps: '1' }),
    [of('pods')],
    { pods: '0', configmaps: '0' },
  ],
  [
    'counts Pods that are done as objects only',
    quota({ pods: '3', 'count/pods': '3', cpu: '1' }),
    [of('pods', pod('1', done), pod('1'))],
    { pods: '1', 'count/pods': '2', cpu: '1' },
  ],
  [
    'counts Pods without requests in its scope',
    quota({ pods: '3' }, ['BestEffort']),
    [of('pods', pod('1'), pod(undefined))],
    { pods: '1' },
  ],
  [
    'counts nothing but Pods in a scope',
    quota({ configmaps: '3' }, ['BestEffort']),
    [of('configmaps', { metadata: { name: 'c' } })],
    { configmaps: '0' },
  ],
])('a quota %s', (_, given, counted, used) => {
  expect(usedOf(given, counted)).toEqual(used);
});

it.each<[string, object, object, string]>([
  ['asked for', { volumeAttributesClassName: 'gold' }, {}, '1'],
  ['had', {}, { currentVolumeAttributesClassName: 'gold' }, '1'],
  [
    'changed to',
    {},
    { modifyVolumeStatus: { status: 'InProgress', targetVolumeAttributesClassName: 'gold' } },
    '1',
  ],
  ['of another name', { volumeAttributesClassName: 'silver' }, {}, '0'],
  ['not there', {}, {}, '0'],
])('counts a claim by its attributes class, %s', (_, spec, status, expected) => {
  const claim = { metadata: { name: 'c' }, spec, status } as KubeObject;
  const scope: ScopedResourceSelectorRequirement = {
    scopeName: 'VolumeAttributesClass',
    operator: 'In',
    values: ['gold'],
  };
  const scoped: ResourceQuota = {
    metadata: { name: 'q' },
    spec: { hard: { persistentvolumeclaims: '5' }, scopeSelector: { matchExpressions: [scope] } },
  };
  expect(usedOf(scoped, [of('persistentvolumeclaims', claim)])).toEqual({ persistentvolumeclaims: expected });
  expect(usedOf(scoped, [of('pods', pod('1'))])).toEqual({ persistentvolumeclaims: '0' });
});
