import type { Container, ContainerStatus, Pod } from '@tinkernetes/api';
import { podPhase } from './pod-phase';

type State = 'running' | 'waiting' | 'removed' | number | { backOffAfter: number };

const status = (name: string, state: State): ContainerStatus => {
  const ended = (exitCode: number) => ({ terminated: { exitCode } });
  const common = {
    name,
    image: '',
    imageID: '',
    ready: false,
    restartCount: 0,
    started: state === 'running',
  };
  if (typeof state === 'number') return { ...common, state: ended(state) };
  if (state === 'running') return { ...common, state: { running: {} } };
  if (state === 'waiting') return { ...common, state: { waiting: {} } };
  if (state === 'removed') {
    const reason = 'RestartingAllContainers';
    return {
      ...common,
      state: { waiting: { reason } },
      lastState: { terminated: { exitCode: 137, reason } },
    };
  }
  return { ...common, state: { waiting: {} }, lastState: ended(state.backOffAfter) };
};
const pod = (
  restartPolicy: Pod['spec']['restartPolicy'],
  containers: Container[],
  initContainers: Container[] = [],
): Pod => ({
  metadata: { name: 'p' },
  spec: { restartPolicy, containers, initContainers },
});
const a: Container = { name: 'a' };
const b: Container = { name: 'b' };
const sidecar: Container = { name: 's', restartPolicy: 'Always' };
const retries: Container = {
  name: 'a',
  restartPolicy: 'Never',
  restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [42] } }],
};

describe('podPhase', () => {
  it.each<[string, Pod, Record<string, State>, string]>([
    ['a container waits', pod('Always', [a, b]), { a: 'running', b: 'waiting' }, 'Pending'],
    ['one runs', pod('Never', [a, b]), { a: 'running', b: 1 }, 'Running'],
    ['all have ended well', pod('Never', [a, b]), { a: 0, b: 0 }, 'Succeeded'],
    ['one has failed', pod('Never', [a, b]), { a: 0, b: 1 }, 'Failed'],
    ['a failure is repeated', pod('OnFailure', [a, b]), { a: 0, b: 1 }, 'Running'],
    ['success is final', pod('OnFailure', [a]), { a: 0 }, 'Succeeded'],
    ['everything runs again', pod('Always', [a]), { a: 0 }, 'Running'],
    ['it backs off', pod('Always', [a]), { a: { backOffAfter: 1 } }, 'Running'],
    ['an init container has not run', pod('Always', [a], [b]), { b: 'running', a: 'waiting' }, 'Pending'],
    ['an init container has failed for good', pod('Never', [a], [b]), { b: 1, a: 'waiting' }, 'Failed'],
    ['an init container is tried again', pod('Always', [a], [b]), { b: 1, a: 'waiting' }, 'Pending'],
    ['a sidecar outlives the rest', pod('Never', [a], [sidecar]), { s: 'running', a: 0 }, 'Running'],
    // KEP-5307: what the container says goes before what the Pod says.
    ['one container runs always', pod('Never', [{ ...a, restartPolicy: 'Always' }]), { a: 0 }, 'Running'],
    ['one never runs again', pod('Always', [{ ...a, restartPolicy: 'Never' }]), { a: 1 }, 'Failed'],
    ['a rule repeats this exit code', pod('Always', [retries]), { a: 42 }, 'Running'],
    ['no rule repeats that one', pod('Always', [retries]), { a: 1 }, 'Failed'],
    ['a rule goes before success', pod('Never', [retries, b]), { a: { backOffAfter: 42 }, b: 0 }, 'Running'],
    ['all begin again', pod('Never', [a, b], [retries]), { a: 'removed', b: 'removed' }, 'Running'],
    [
      'a failed init container repeats by itself',
      pod('Never', [a], [{ ...b, restartPolicy: 'OnFailure' }]),
      { b: 1, a: 'waiting' },
      'Pending',
    ],
  ])('%s', (_, p, states, phase) => {
    const of = (containers: readonly Container[]) =>
      containers.flatMap(({ name }) => {
        const state = states[name];
        return state === undefined ? [] : [status(name, state)];
      });
    expect(
      podPhase(p, { init: of(p.spec.initContainers ?? []), regular: of(p.spec.containers) }, false),
    ).toBe(phase);
  });

  it.each([
    [0, 'Succeeded'],
    [1, 'Failed'],
  ])('is final where nothing will run again: exit code %d', (exitCode, phase) => {
    expect(podPhase(pod('Always', [a]), { init: [], regular: [status('a', exitCode)] }, true)).toBe(phase);
  });
});
