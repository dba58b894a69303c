import type { KubeObject } from '@tinkernetes/api';
import type { StrategyContext } from '../contracts';
import { strategies } from './strategies';

const context: StrategyContext = {
  user: { name: 'tester', groups: ['testers'] },
  namespace: 'default',
  apiVersion: 'v1',
  now: Date.parse('2030-01-01T00:00:00Z'),
  warn: () => undefined,
};
const metadata = { name: 'a', namespace: 'default', uid: 'u-1' };

/** The object as a create would store it. */
function created(
  resource: string,
  object: object,
): Record<string, unknown> & { spec: Record<string, unknown> } {
  const strategy = strategies.get(resource);
  if (!strategy) throw new Error(`no strategy for ${resource}`);
  const defaulted = strategy.default?.(object as KubeObject) ?? (object as KubeObject);
  const prepared = strategy.prepareForCreate?.(defaulted, context) ?? defaulted;
  return prepared as unknown as ReturnType<typeof created>;
}
const updated = (resource: string, object: object, old: object) => {
  const strategy = strategies.get(resource);
  const prepared = strategy?.prepareForUpdate?.(object as KubeObject, old as KubeObject, context) ?? object;
  const errors = strategy?.validateUpdate?.(prepared as KubeObject, old as KubeObject, context) ?? [];
  return { object: prepared, errors: errors.map(({ field, message }) => `${field}: ${message}`) };
};
const container = { name: 'c', image: 'registry.example.com/app:1.2' };
const template = { metadata: { labels: { app: 'a' } }, spec: { containers: [container] } };

describe('defaults', () => {
  it.each([
    ['registry.example.com/app:latest', 'Always'],
    ['registry.example.com:5000/app', 'Always'],
    ['registry.example.com/app:1.2', 'IfNotPresent'],
    [`registry.example.com/app@sha256:${'a'.repeat(64)}`, 'IfNotPresent'],
  ])('pull %s %s', (image, policy) => {
    const pod = created('/pods', { metadata, spec: { containers: [{ name: 'c', image }] } });
    expect(pod.spec.containers).toMatchObject([{ imagePullPolicy: policy }]);
  });

  it('request what is limited, in Pods but not in templates', () => {
    const limited = { ...container, resources: { limits: { cpu: '1' } } };
    const pod = created('/pods', { metadata, spec: { containers: [limited] } });
    expect(pod.spec.containers).toMatchObject([{ resources: { requests: { cpu: '1' } } }]);
    const spec = {
      selector: { matchLabels: { app: 'a' } },
      template: { ...template, spec: { containers: [limited] } },
    };
    const deployment = created('apps/deployments', { metadata, spec });
    expect(JSON.stringify(deployment)).not.toContain('requests');
  });

  it('roll Deployments out by a quarter', () => {
    const { spec } = created('apps/deployments', { metadata, spec: { selector: {}, template } });
    expect(spec).toMatchObject({
      replicas: 1,
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '25%', maxSurge: '25%' } },
      revisionHistoryLimit: 10,
      progressDeadlineSeconds: 600,
    });
  });

  it.each([
    [{}, { parallelism: 1, completions: 1, backoffLimit: 6, podReplacementPolicy: 'TerminatingOrFailed' }],
    [{ parallelism: 3 }, { parallelism: 3, backoffLimit: 6 }],
    [{ completions: 3, completionMode: 'Indexed', backoffLimitPerIndex: 1 }, { backoffLimit: 2_147_483_647 }],
    [{ podFailurePolicy: { rules: [] } }, { podReplacementPolicy: 'Failed' }],
  ])('complete the Job %j', (spec, expected) => {
    expect(created('batch/jobs', { metadata, spec: { template, ...spec } }).spec).toMatchObject(expected);
  });

  it('find a Job’s Pods by its uid', () => {
    const { spec } = created('batch/jobs', { metadata, spec: { template } });
    expect(spec).toMatchObject({
      selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': 'u-1' } },
      template: { metadata: { labels: { 'job-name': 'a', app: 'a' } } },
    });
  });

  it.each([
    [
      { ports: [{ port: 80 }] },
      { type: 'ClusterIP', sessionAffinity: 'None', internalTrafficPolicy: 'Cluster' },
    ],
    [{ ports: [{ port: 80 }] }, { ports: [{ port: 80, targetPort: 80, protocol: 'TCP' }] }],
    [{ type: 'LoadBalancer' }, { allocateLoadBalancerNodePorts: true, externalTrafficPolicy: 'Cluster' }],
    [{ sessionAffinity: 'ClientIP' }, { sessionAffinityConfig: { clientIP: { timeoutSeconds: 10_800 } } }],
  ])('complete the Service %j', (spec, expected) => {
    expect(created('/services', { metadata, spec }).spec).toMatchObject(expected);
  });

  it('keep what a Secret says in plain text as data', () => {
    const secret = created('/secrets', {
      metadata,
      stringData: { user: 'joe' },
      data: { user: 'eA==', pw: 'eQ==' },
    });
    expect(secret).toEqual({ metadata, data: { pw: 'eQ==', user: 'am9l' }, type: 'Opaque' });
  });
});

describe('updates', () => {
  const service = <S extends object>(spec: S) => ({
    metadata,
    spec: {
      clusterIP: '10.96.0.7',
      clusterIPs: ['10.96.0.7'],
      ipFamilies: ['IPv4'],
      sessionAffinity: 'None',
      ...spec,
    },
  });
  const nodePort = service({
    type: 'NodePort',
    ports: [{ port: 80, protocol: 'TCP', targetPort: 80, nodePort: 30_080 }],
  });

  it('keep the nodePort of a Service that is updated without one', () => {
    const without = service({ type: 'NodePort', ports: [{ port: 80, protocol: 'TCP', targetPort: 80 }] });
    expect(updated('/services', without, nodePort).object).toMatchObject({
      spec: { ports: [{ nodePort: 30_080 }] },
    });
  });

  it('drop the nodePort of a Service that becomes internal', () => {
    const internal = service({ type: 'ClusterIP', ports: nodePort.spec.ports });
    const { object } = updated('/services', internal, nodePort);
    expect(JSON.stringify(object)).not.toContain('nodePort');
  });

  it('refuse another clusterIP', () => {
    const moved = {
      ...nodePort,
      spec: { ...nodePort.spec, clusterIP: '10.96.0.8', clusterIPs: ['10.96.0.8'] },
    };
    expect(updated('/services', moved, nodePort).errors).toContain(
      'spec.clusterIPs[0]: Invalid value: ["10.96.0.8"]: may not change once set',
    );
  });

  it('C23: leave only some fields of a StatefulSet open', () => {
    const old = created('apps/statefulsets', {
      metadata,
      spec: { serviceName: 'a', selector: { matchLabels: { app: 'a' } }, template },
    });
    const moved = { ...old, spec: { ...old.spec, serviceName: 'b' } };
    expect(updated('apps/statefulsets', moved, old).errors).toEqual([
      "spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
    ]);
    expect(updated('apps/statefulsets', { ...old, spec: { ...old.spec, replicas: 3 } }, old).errors).toEqual(
      [],
    );
  });

  it('C25: keep a Job’s completions', () => {
    const once = { ...template, spec: { ...template.spec, restartPolicy: 'Never' } };
    const old = created('batch/jobs', { metadata, spec: { completions: 2, template: once } });
    const more = { ...old, spec: { ...old.spec, completions: 3 } };
    expect(updated('batch/jobs', more, old).errors).toEqual([
      'spec.completions: Invalid value: 3: field is immutable',
    ]);
  });

  it('let a Pod change its image and nothing that its node has already used', () => {
    const old = created('/pods', { metadata, spec: { containers: [container] } });
    const withSpec = (spec: object) => ({ ...old, spec: { ...old.spec, ...spec } });
    const [running] = old.spec.containers as object[];
    expect(
      updated('/pods', withSpec({ containers: [{ ...running, image: 'other:1' }] }), old).errors,
    ).toEqual([]);
    const [error] = updated('/pods', withSpec({ hostname: 'h' }), old).errors;
    expect(error).toMatch(/^spec: Forbidden: pod updates may not change fields other than/);
  });
});

describe('printed rows', () => {
  const cells = (resource: string, object: object) =>
    strategies.get(resource)?.tableCells?.(object as KubeObject, context.now);
  const pod = (status: object, more: object = {}) => ({
    metadata: { name: 'p', creationTimestamp: '2029-12-31T23:58:30Z', ...more },
    spec: { containers: [container], nodeName: 'n1' },
    status,
  });
  const waiting = (reason: string) => ({
    name: 'c',
    ready: false,
    restartCount: 3,
    state: { waiting: { reason } },
  });

  it.each([
    [pod({ phase: 'Pending' }), ['0/1', 'Pending', '0', '90s']],
    [
      pod({ phase: 'Running', containerStatuses: [waiting('CrashLoopBackOff')] }),
      ['0/1', 'CrashLoopBackOff', '3', '90s'],
    ],
    [
      pod({ phase: 'Running' }, { deletionTimestamp: '2030-01-01T00:00:00Z' }),
      ['0/1', 'Terminating', '0', '90s'],
    ],
    [
      pod({
        phase: 'Failed',
        containerStatuses: [
          { name: 'c', ready: false, restartCount: 0, state: { terminated: { exitCode: 7 } } },
        ],
      }),
      ['0/1', 'ExitCode:7', '0', '90s'],
    ],
  ])('show a Pod as kubectl does (%#)', (object, expected) => {
    expect(cells('/pods', object)?.slice(1, 5)).toEqual(expected);
  });
});
