import { useCluster } from '../../harness/cluster-fixture';

/** Whom containers run as, and what they may do. */
const { run, attempt, apply, read, until } = useCluster([
  ...[
    '--nodes=1',
    '--ephemeral',
    '--extra-config=kubelet.allowed-unsafe-sysctls=kernel.msg*,net.core.somaxconn',
  ],
]);

const pod = (name: string, spec: object = {}, container: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: {
    terminationGracePeriodSeconds: 1,
    containers: [{ name: 'main', image: 'busybox', command: ['sleep', '3600'], ...container }],
    ...spec,
  },
});
const ready = (name: string) => run(`wait --for=condition=Ready pod/${name} --timeout=120s`);
const inside = (name: string, script: string) => run(['exec', name, '--', 'sh', '-c', script]);
const complaints = async (name: string, script: string) =>
  (await attempt(['exec', name, '--', 'sh', '-c', script])).stderr;

it('user, group and supplemental groups of the Pod, or of a container', async () => {
  // https://kubernetes.io/docs/tasks/configure-pod-container/security-context/
  const securityContext = { runAsUser: 1000, runAsGroup: 3000, fsGroup: 2000, supplementalGroups: [4000] };
  const volumes = [{ name: 'data', emptyDir: {} }];
  const volumeMounts = [{ name: 'data', mountPath: '/data/demo' }];
  await apply(
    pod('user', { securityContext, volumes }, { volumeMounts }),
    pod(
      'own',
      { securityContext },
      { securityContext: { runAsUser: 2000, allowPrivilegeEscalation: false } },
    ),
  );
  await ready('user');
  await ready('own');
  expect(await inside('user', 'id')).toMatch(/^uid=1000 gid=3000 groups=.*2000.*4000/);
  expect(await inside('user', 'ps | grep "sleep 3600"')).toMatch(/^ *1 1000 /);
  await inside('user', 'echo hello > /data/demo/file');
  expect(await complaints('user', 'touch /denied')).toContain('Permission denied');
  expect(await inside('own', 'id -u')).toBe('2000\n');
  const user = await read('pod/user', '{.status.containerStatuses[0].user.linux}');
  expect(JSON.parse(user)).toEqual({ uid: 1000, gid: 3000, supplementalGroups: [2000, 3000, 4000] });
});

it('runAsNonRoot: refuses root, whoever says that it is', async () => {
  const runAsNonRoot = true;
  await apply(
    pod('image-root', { securityContext: { runAsNonRoot } }),
    pod('user-root', {}, { securityContext: { runAsNonRoot, runAsUser: 0 } }),
    pod('not-root', { securityContext: { runAsNonRoot, runAsUser: 1000 } }),
  );
  await ready('not-root');
  for (const [name, message] of [
    ['image-root', 'container has runAsNonRoot and image will run as root'],
    ['user-root', "container's runAsUser breaks non-root policy"],
  ] as const)
    await until(async () =>
      expect(JSON.parse(await read(`pod/${name}`, '{.status.containerStatuses[0].state.waiting}'))).toEqual({
        reason: 'CreateContainerConfigError',
        message: expect.stringMatching(`^${message} \\(pod: "${name}_default\\(.*\\)", container: main\\)$`),
      }),
    );
});

it('readOnlyRootFilesystem: leaves only volumes to be written to', async () => {
  const volumeMounts = [{ name: 'tmp', mountPath: '/tmp' }];
  const securityContext = { readOnlyRootFilesystem: true };
  await apply(
    pod('read-only', { volumes: [{ name: 'tmp', emptyDir: {} }] }, { securityContext, volumeMounts }),
  );
  await ready('read-only');
  expect(await complaints('read-only', 'touch /etc/new')).toContain('Read-only file system');
  expect(await inside('read-only', 'echo fine > /tmp/new && cat /tmp/new')).toBe('fine\n');
});

it('capabilities and privileges, as /proc shows them', async () => {
  const securityContext = { capabilities: { drop: ['ALL'], add: ['NET_BIND_SERVICE'] } };
  await apply(pod('few', {}, { securityContext }), pod('all', {}, { securityContext: { privileged: true } }));
  await ready('few');
  await ready('all');
  expect(await inside('few', 'grep CapEff /proc/1/status')).toBe('CapEff:\t0000000000000400\n');
  expect(await inside('all', 'grep CapEff /proc/1/status')).toMatch(/^CapEff:\t0000(01|03)ffffffffff\n$/);
});

it('shareProcessNamespace: containers see, and may signal, each other', async () => {
  const shared = pod('shared', { shareProcessNamespace: true });
  const [main] = shared.spec.containers;
  await apply({
    ...shared,
    spec: { ...shared.spec, containers: [main, { name: 'web', image: 'nginx' }] },
  });
  await ready('shared');
  const processes = await inside('shared', 'ps');
  expect(processes).toContain('/pause');
  expect(processes).toContain('nginx: master process');
  await apply(pod('apart'));
  await ready('apart');
  expect(await inside('apart', 'cat /proc/1/comm')).toBe('sleep\n');
});

it('sysctls: safe ones, those that the node allows, and no others', async () => {
  const sysctls = (...pairs: Array<[string, string]>) => ({
    securityContext: { sysctls: pairs.map(([name, value]) => ({ name, value })) },
  });
  await apply(
    pod('safe', sysctls(['net.ipv4.ip_local_port_range', '32768 60999'])),
    pod('allowed', sysctls(['net.core.somaxconn', '1024'], ['kernel.msgmax', '65536'])),
    pod('forbidden', { nodeName: 'node-1', ...sysctls(['kernel.shmall', '1']) }),
  );
  await ready('safe');
  await ready('allowed');
  expect(await inside('safe', 'cat /proc/sys/net/ipv4/ip_local_port_range')).toBe('32768 60999\n');
  expect(await inside('allowed', 'sysctl -n net.core.somaxconn kernel.msgmax')).toBe('1024\n65536\n');
  await until(async () => {
    const status = JSON.parse(await read('pod/forbidden', '{.status}')) as object;
    expect(status).toMatchObject({
      phase: 'Failed',
      reason: 'SysctlForbidden',
      message: 'Pod was rejected: forbidden sysctl: "kernel.shmall" not allowlisted',
    });
  });
});
