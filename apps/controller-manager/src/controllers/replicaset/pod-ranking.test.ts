import type { Pod, PodStatus } from '@tinkernetes/api';
import { podsToDelete } from './pod-ranking';

const now = Date.UTC(2026, 0, 2);
const ago = (seconds: number) => new Date(now - seconds * 1000).toISOString();
const ready = (seconds = 3600) => [{ type: 'Ready', status: 'True', lastTransitionTime: ago(seconds) }];

interface Shape {
  uid?: string;
  node?: string;
  cost?: string;
  age?: number;
  status?: PodStatus;
}

const pod = (name: string, { uid = name, node = 'n1', cost, age = 3600, status }: Shape = {}): Pod => ({
  metadata: {
    name,
    uid,
    creationTimestamp: ago(age),
    annotations: cost === undefined ? {} : { 'controller.kubernetes.io/pod-deletion-cost': cost },
  },
  spec: {
    nodeName: node || undefined,
    containers: [],
    initContainers: [{ name: 'proxy', restartPolicy: 'Always' }, { name: 'prep' }],
  },
  status: { phase: 'Running', conditions: ready(), ...status },
});
const restarted = (restartCount: number) => [{ name: 'main', restartCount } as never];

// The Pod that goes first is named `first`; all else speaks for the other one.
it.each([
  ['without a node', pod('first', { node: '' }), pod('a', { status: { phase: 'Pending' } })],
  [
    'that is Pending',
    pod('first', { status: { phase: 'Pending' } }),
    pod('a', { status: { phase: 'Unknown' } }),
  ],
  [
    'of unknown phase',
    pod('first', { status: { phase: 'Unknown' } }),
    pod('a', { status: { conditions: [] } }),
  ],
  ['that is not ready', pod('first', { status: { conditions: [] } }), pod('a', { cost: '-5' })],
  ['that costs less', pod('first', { cost: '-1', node: 'n2' }), pod('a')],
  ['of a cost that is no number, which is 0', pod('first', { cost: 'much' }), pod('a', { cost: '1' })],
  ['on the fuller node', pod('first'), pod('a', { node: 'n2', status: { conditions: ready(1) } })],
  [
    'that is ready for less long',
    pod('first', { status: { conditions: ready(60) } }),
    pod('a', { status: { containerStatuses: restarted(9) } }),
  ],
  [
    'that restarted more often',
    pod('first', { status: { containerStatuses: restarted(2) } }),
    pod('a', { age: 1, status: { containerStatuses: restarted(1) } }),
  ],
  [
    'whose sidecar restarted more often, and not its init container',
    pod('first', { status: { initContainerStatuses: [{ name: 'proxy', restartCount: 1 } as never] } }),
    pod('a', { status: { initContainerStatuses: [{ name: 'prep', restartCount: 5 } as never] } }),
  ],
  ['that is younger', pod('first', { age: 60 }), pod('a', { age: 3600 })],
  [
    'of the lower uid, of two about as old',
    pod('first', { uid: '1', age: 3600 }),
    pod('a', { uid: '2', age: 3590 }),
  ],
])('takes the Pod %s first', (_, first, other) => {
  const options = { podsOnNode: new Map([['n1', 2]]), now };
  for (const pods of [
    [first, other],
    [other, first],
  ])
    expect(podsToDelete(pods, 1, options).map((p) => p.metadata.name)).toEqual(['first']);
});
