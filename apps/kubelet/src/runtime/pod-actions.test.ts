import type { Container, Pod } from '@tinkernetes/api';
import type { ProbeResults } from './container-kill';
import { containerHash } from './container-hash';
import { computePodActions } from './pod-actions';
import type {
  PodRuntimeStatus,
  RuntimeContainer,
  RuntimeContainerState,
  RuntimeSandbox,
} from './pod-runtime-status';

const probes = (
  results: Partial<Record<'liveness' | 'startup', 'success' | 'failure'>> = {},
): ProbeResults => ({
  liveness: () => results.liveness,
  startup: () => results.startup,
});

const container = (name: string, more: Partial<Container> = {}): Container => ({
  name,
  image: 'busybox',
  ...more,
});

const podOf = (spec: Partial<Pod['spec']>): Pod => ({
  metadata: { name: 'p', namespace: 'default', uid: 'u' },
  spec: { containers: [container('main')], ...spec },
});

const sandbox = (state: RuntimeSandbox['state'] = 'SANDBOX_READY', attempt = 0): RuntimeSandbox => ({
  id: `sandbox-${attempt}`,
  attempt,
  state,
  createdAt: 1,
  isHostNetwork: false,
  ip: '10.0.0.1',
});

const seen = (
  name: string,
  state: RuntimeContainerState,
  more: Partial<RuntimeContainer> = {},
): RuntimeContainer => ({
  id: `${name}-id`,
  name,
  sandboxId: 'sandbox-0',
  state,
  createdAt: 1,
  startedAt: 1,
  finishedAt: state === 'exited' ? 2 : 0,
  exitCode: 0,
  reason: '',
  message: '',
  image: 'busybox',
  imageId: '',
  imageRef: '',
  hash: containerHash(container(name)),
  restartCount: 0,
  logPath: '',
  lastWords: { path: '', policy: undefined },
  resources: undefined,
  user: '',
  ...more,
});

const statusOf = (containers: RuntimeContainer[], sandboxes = [sandbox()]): PodRuntimeStatus => ({
  uid: 'u',
  name: 'p',
  namespace: 'default',
  sandboxes,
  containers,
  ips: ['10.0.0.1'],
});

const names = (containers: readonly Container[]) => containers.map((c) => c.name);

describe('computePodActions', () => {
  it('makes a first sandbox and starts all containers', () => {
    const actions = computePodActions(podOf({}), statusOf([], []), probes());
    expect(actions).toMatchObject({ createSandbox: true, attempt: 0 });
    expect(names(actions.containersToStart)).toEqual(['main']);
  });

  it('makes the next sandbox when the last one died', () => {
    const actions = computePodActions(
      podOf({}),
      statusOf([seen('main', 'exited')], [sandbox('SANDBOX_NOTREADY', 2)]),
      probes(),
    );
    expect(actions).toMatchObject({ killPod: true, createSandbox: true, attempt: 3 });
  });

  it('makes no new sandbox for a pod that ran and never restarts', () => {
    const pod = podOf({ restartPolicy: 'Never' });
    const actions = computePodActions(
      pod,
      statusOf([seen('main', 'exited')], [sandbox('SANDBOX_NOTREADY')]),
      probes(),
    );
    expect(actions).toMatchObject({ killPod: true, createSandbox: false });
  });

  it.each([
    ['Always', 0, ['main']],
    ['OnFailure', 0, []],
    ['OnFailure', 1, ['main']],
    ['Never', 1, []],
  ] as const)('with policy %s and exit code %d starts %j', (restartPolicy, exitCode, expected) => {
    const actions = computePodActions(
      podOf({ restartPolicy }),
      statusOf([seen('main', 'exited', { exitCode })]),
      probes(),
    );
    expect(names(actions.containersToStart)).toEqual(expected);
    expect(actions.killPod).toBe(expected.length === 0);
  });

  it('kills and starts a container whose image changed', () => {
    const pod = podOf({ containers: [container('main', { image: 'busybox:2' })] });
    const actions = computePodActions(pod, statusOf([seen('main', 'running')]), probes());
    expect(actions.containersToKill[0]?.message).toBe('Container main definition changed, will be restarted');
    expect(names(actions.containersToStart)).toEqual(['main']);
  });

  it('restarts a container that failed its liveness probe, unless it never restarts', () => {
    const status = statusOf([seen('main', 'running')]);
    const again = computePodActions(podOf({}), status, probes({ liveness: 'failure' }));
    expect(again.containersToKill[0]?.message).toBe(
      'Container main failed liveness probe, will be restarted',
    );
    const never = computePodActions(
      podOf({ restartPolicy: 'Never' }),
      status,
      probes({ liveness: 'failure' }),
    );
    expect(never.containersToKill[0]?.message).toBe('Container main failed liveness probe');
    expect(never.containersToStart).toEqual([]);
  });

  describe('init containers', () => {
    const sidecar = container('proxy', {
      restartPolicy: 'Always',
      startupProbe: { exec: { command: ['x'] } },
    });
    const pod = podOf({
      restartPolicy: 'Never',
      initContainers: [container('prep'), sidecar, container('warm')],
    });

    it.each([
      ['the first', [], {}, ['prep']],
      ['nothing while one runs', [seen('prep', 'running')], {}, []],
      ['the sidecar after it', [seen('prep', 'exited')], {}, ['proxy']],
      ['nothing before the sidecar has started', [seen('prep', 'exited'), seen('proxy', 'running')], {}, []],
      [
        'the next once it has',
        [seen('prep', 'exited'), seen('proxy', 'running')],
        { startup: 'success' },
        ['warm'],
      ],
    ] as const)('start %s', (_title, containers, results, expected) => {
      const actions = computePodActions(pod, statusOf([...containers]), probes(results));
      expect(names(actions.initContainersToStart)).toEqual(expected);
      expect(actions.containersToStart).toEqual([]);
    });

    it('let the regular containers start when all are done', () => {
      const done = [seen('prep', 'exited'), seen('proxy', 'running'), seen('warm', 'exited')];
      const actions = computePodActions(pod, statusOf(done), probes({ startup: 'success' }));
      expect(names(actions.containersToStart)).toEqual(['main']);
    });

    it('end the pod when one fails and nothing restarts', () => {
      const actions = computePodActions(pod, statusOf([seen('prep', 'exited', { exitCode: 1 })]), probes());
      expect(actions.killPod).toBe(true);
    });

    it('restart a sidecar beside the main container even if the pod never restarts', () => {
      const crashed = [
        seen('prep', 'exited'),
        seen('proxy', 'exited', { exitCode: 1 }),
        seen('warm', 'exited'),
        seen('main', 'running'),
      ];
      const actions = computePodActions(pod, statusOf(crashed), probes());
      expect(names(actions.initContainersToStart)).toEqual(['proxy']);
      expect(actions.containersToKill).toEqual([]);
      expect(actions.killPod).toBe(false);
    });

    it('kill a sidecar that failed its startup probe, with its own words', () => {
      const actions = computePodActions(
        pod,
        statusOf([seen('prep', 'exited'), seen('proxy', 'running')]),
        probes({ startup: 'failure' }),
      );
      expect(actions.containersToKill[0]?.message).toContain('Init container proxy failed startup probe');
      expect(names(actions.initContainersToStart)).toEqual(['proxy']);
    });

    it('are not run again once a regular container has run', () => {
      const actions = computePodActions(
        pod,
        statusOf([seen('main', 'running'), seen('proxy', 'running')]),
        probes({ startup: 'success' }),
      );
      expect(actions.initContainersToStart).toEqual([]);
    });
  });

  it('ends sidecars with the last regular container', () => {
    const pod = podOf({
      restartPolicy: 'Never',
      initContainers: [container('proxy', { restartPolicy: 'Always' })],
    });
    const actions = computePodActions(
      pod,
      statusOf([seen('proxy', 'running'), seen('main', 'exited')]),
      probes(),
    );
    expect(actions).toMatchObject({ killPod: true, createSandbox: false, initContainersToStart: [] });
  });

  it('starts an ephemeral container once', () => {
    const pod = podOf({ ephemeralContainers: [container('debug')] });
    const before = computePodActions(pod, statusOf([seen('main', 'running')]), probes());
    expect(names(before.ephemeralContainersToStart)).toEqual(['debug']);
    const after = computePodActions(
      pod,
      statusOf([seen('main', 'running'), seen('debug', 'exited')]),
      probes(),
    );
    expect(after.ephemeralContainersToStart).toEqual([]);
  });

  it('follows restart rules by exit code before the policy', () => {
    const rules = {
      restartPolicy: 'Never',
      restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [42] } }],
    };
    const pod = podOf({ restartPolicy: 'Never', containers: [container('main', rules)] });
    const start = (exitCode: number) =>
      names(
        computePodActions(pod, statusOf([seen('main', 'exited', { exitCode })]), probes()).containersToStart,
      );
    expect(start(42)).toEqual(['main']);
    expect(start(1)).toEqual([]);
  });
});
