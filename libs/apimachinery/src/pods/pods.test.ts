import type { Container, Node, Pod, Taint, Toleration } from '@tinkernetes/api';
import { nodeSelectorTermMatches } from './node-affinity';
import { podRequests, qosClassOf } from './pod-resources';
import { findUntoleratedTaint, tolerates } from './tolerations';

const container = (name: string, cpu: string, more: Partial<Container> = {}): Container => ({
  name,
  resources: { requests: { cpu } },
  ...more,
});
const podOf = (spec: Partial<Pod['spec']>): Pod => ({
  metadata: { name: 'p' },
  spec: { containers: [], ...spec },
});
const sidecar = { restartPolicy: 'Always' };

describe('what a Pod requests', () => {
  it.each<[string, Partial<Pod['spec']>, string]>([
    ['the sum of its containers', { containers: [container('a', '100m'), container('b', '200m')] }, '300m'],
    [
      'its largest init container, where that is more',
      { containers: [container('a', '100m')], initContainers: [container('i', '1'), container('j', '500m')] },
      '1',
    ],
    [
      'sidecars beside the containers',
      { containers: [container('a', '100m')], initContainers: [container('s', '200m', sidecar)] },
      '300m',
    ],
    [
      'an init container with the sidecars that started before it',
      {
        containers: [container('a', '100m')],
        initContainers: [container('s', '200m', sidecar), container('i', '400m')],
      },
      '600m',
    ],
    ['overhead on top', { containers: [container('a', '100m')], overhead: { cpu: '50m' } }, '150m'],
    [
      'the Pod’s own figure instead',
      { containers: [container('a', '100m')], resources: { requests: { cpu: '2' } } },
      '2',
    ],
  ])('is %s', (_rule, spec, cpu) => {
    expect(podRequests(podOf(spec)).get('cpu')?.toString()).toBe(cpu);
  });
});

describe('QoS class', () => {
  const of = (...resources: Array<Container['resources']>) =>
    qosClassOf({ containers: resources.map((r, i) => ({ name: `c${i}`, resources: r })) });
  const full = { cpu: '1', memory: '1Gi' };

  it.each([
    ['BestEffort', of({})],
    ['Burstable', of({ requests: { cpu: '1' } })],
    ['Burstable', of({ limits: full, requests: full }, {})],
    ['Guaranteed', of({ limits: full, requests: full })],
    ['Burstable', of({ limits: full, requests: { ...full, cpu: '500m' } })],
  ])('is %s', (expected, actual) => {
    expect(actual).toBe(expected);
  });
});

describe('tolerations', () => {
  const taint: Taint = { key: 'k', value: '5', effect: 'NoSchedule' };

  it.each<[Toleration, boolean]>([
    [{ operator: 'Exists' }, true],
    [{ key: 'k', operator: 'Exists', effect: 'NoSchedule' }, true],
    [{ key: 'k', value: '5' }, true],
    [{ key: 'k', value: '6' }, false],
    [{ key: 'k', operator: 'Exists', effect: 'NoExecute' }, false],
    [{ key: 'other', operator: 'Exists' }, false],
    [{ key: 'k', operator: 'Gt', value: '4' }, true],
    [{ key: 'k', operator: 'Lt', value: '4' }, false],
  ])('%j tolerates: %s', (toleration, expected) => {
    expect(tolerates(toleration, taint)).toBe(expected);
  });

  it('overlook taints that only discourage', () => {
    expect(findUntoleratedTaint([{ key: 'x', effect: 'PreferNoSchedule' }], [])).toBeUndefined();
    expect(findUntoleratedTaint([taint], [])).toBe(taint);
  });
});

describe('node selector terms', () => {
  const node: Node = { metadata: { name: 'n1', labels: { zone: 'a', size: '8' } }, spec: {} };

  it.each([
    [{ matchExpressions: [{ key: 'zone', operator: 'In' as const, values: ['a', 'b'] }] }, true],
    [{ matchExpressions: [{ key: 'size', operator: 'Gt' as const, values: ['4'] }] }, true],
    [{ matchExpressions: [{ key: 'zone', operator: 'DoesNotExist' as const }] }, false],
    [{ matchFields: [{ key: 'metadata.name', operator: 'In' as const, values: ['n1'] }] }, true],
    [{}, false],
  ])('%j matches: %s', (term, expected) => {
    expect(nodeSelectorTermMatches(term, node)).toBe(expected);
  });
});
