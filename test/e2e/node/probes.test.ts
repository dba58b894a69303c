import { useCluster } from '../../harness/cluster-fixture';
import { podOf, shell, waits } from '../../harness/pods';

/** Probes of each kind, by each way, and what they change. */
const { run, apply, read, until } = useCluster(['--nodes=1', '--ephemeral']);

/** As often as possible, and never enough failures. */
const often = { periodSeconds: 1, failureThreshold: 1000 };
const ready = (pod: string) => run(`wait --for=condition=Ready pod/${pod} --timeout=120s`);
const unready = (pod: string) => run(`wait --for=condition=Ready=false pod/${pod} --timeout=120s`);
const events = (pod: string) => run(`events --for pod/${pod}`);
const says = (pod: string, text: string | RegExp) =>
  until(async () => expect(await events(pod)).toEqual(expect.stringMatching(text)));
const restarts = async (pod: string) =>
  Number(await read(`pod/${pod}`, '{.status.containerStatuses[0].restartCount}'));
/** A server for probes: nginx that answers `/healthz` while the file is there. */
const server = (probes: object) => ({
  name: 'main',
  image: 'nginx',
  ports: [{ name: 'web', containerPort: 80 }],
  ...probes,
});

const alive = podOf('lives', {
  terminationGracePeriodSeconds: 600,
  containers: [
    shell('main', 'touch /tmp/healthy; trap "" TERM; while true; do sleep 0.1; done', {
      livenessProbe: {
        exec: { command: ['cat', '/tmp/healthy'] },
        initialDelaySeconds: 1,
        periodSeconds: 1,
        timeoutSeconds: 60,
        failureThreshold: 2,
        // Of the probe: not the minutes that the Pod would have.
        terminationGracePeriodSeconds: 1,
      },
    }),
  ],
});
const isUp = { exec: { command: ['test', '-e', '/tmp/up'] }, periodSeconds: 1, timeoutSeconds: 60 };
const slow = podOf('slow', {
  containers: [
    shell('main', waits(), {
      startupProbe: { ...isUp, failureThreshold: 1000 },
      livenessProbe: { ...isUp, failureThreshold: 1 },
    }),
  ],
});
const failing = { exec: { command: ['false'] }, periodSeconds: 1, failureThreshold: 1 };
const neverUp = podOf('never-up', { containers: [shell('main', waits(), { startupProbe: failing })] });

// These need their time: it passes while the other tests run.
beforeAll(async () => {
  const probed = (name: string, ...command: string[]) => {
    const readinessProbe = { ...often, exec: { command } };
    return podOf(name, { containers: [shell('main', waits(), { readinessProbe })] });
  };
  await apply(
    probed('fails', 'cat', '/tmp/healthy'),
    probed('late', 'sleep', '60'),
    probed('absent', 'no-such-program'),
    alive,
    slow,
    neverUp,
  );
});

it('readiness, by HTTP: endpoints follow it', async () => {
  const httpGet = { path: '/healthz', port: 'web', httpHeaders: [{ name: 'X-Asks', value: 'kubelet' }] };
  await apply(
    podOf('serves', {
      containers: [server({ readinessProbe: { periodSeconds: 1, failureThreshold: 1, httpGet } })],
    }),
  );
  await run('label pod serves app=serves');
  await run('expose pod serves --port=80');
  const addresses = (which: string) => read('endpoints/serves', `{.subsets[*].${which}[*].ip}`);
  await says('serves', 'Readiness probe failed: HTTP probe failed with statuscode: 404');
  const ip = await read('pod/serves', '{.status.podIP}');
  await until(async () => expect(await addresses('notReadyAddresses')).toBe(ip));
  await run(['exec', 'serves', '--', 'sh', '-c', 'echo ok > /usr/share/nginx/html/healthz']);
  await ready('serves');
  await until(async () => expect(await addresses('addresses')).toBe(ip));
  expect(await run('logs serves')).toMatch(/GET \/healthz HTTP\/1.1" 200 .*"kube-probe\/1\.36"/);
  await run(['exec', 'serves', '--', 'rm', '/usr/share/nginx/html/healthz']);
  await until(async () => expect(await addresses('addresses')).toBe(''));
  // It is not started again for that.
  expect(await restarts('serves')).toBe(0);
});

it('HTTP: does not take plain answers for TLS ones, and warns of a redirect elsewhere', async () => {
  const redirect = { path: '/redirect?location=http://example.com/', port: 8080 };
  await apply(
    podOf('plain', {
      containers: [
        server({ readinessProbe: { ...often, httpGet: { path: '/', port: 'web', scheme: 'HTTPS' } } }),
      ],
    }),
    podOf('redirects', {
      containers: [
        {
          name: 'main',
          image: 'registry.k8s.io/e2e-test-images/agnhost:2.53',
          args: ['netexec'],
          readinessProbe: { ...often, httpGet: redirect },
        },
      ],
    }),
  );
  await says(
    'plain',
    'Readiness probe failed: Get "https://.*:80/": http: server gave HTTP response to HTTPS',
  );
  await ready('redirects');
  await says('redirects', /Warning +ProbeWarning .* Readiness probe warning: Probe terminated redirects/);
});

it('TCP: succeeds while something listens', async () => {
  const open = 'until test -e /tmp/open; do sleep 0.1; done; exec nc -lk -p 7777 -e cat';
  await apply(
    podOf('listens', {
      containers: [shell('main', open, { readinessProbe: { ...often, tcpSocket: { port: 7777 } } })],
    }),
  );
  await says('listens', /Readiness probe failed: dial tcp \S+:7777: connect: connection refused/);
  await run('exec listens -- touch /tmp/open');
  await ready('listens');
});

it('gRPC: asks the health service', async () => {
  const health = (readinessProbe: object) => ({
    name: 'main',
    image: 'registry.k8s.io/e2e-test-images/agnhost:2.53',
    args: ['grpc-health-checking'],
    readinessProbe: { ...often, ...readinessProbe },
  });
  await apply(
    podOf('rpc', { containers: [health({ grpc: { port: 5000 } })] }),
    podOf('no-rpc', { containers: [health({ grpc: { port: 5001 } })] }),
    podOf('other-rpc', { containers: [health({ grpc: { port: 5000, service: 'nobody' } })] }),
  );
  await ready('rpc');
  await says('other-rpc', /health rpc probe failed: rpc error: code = NotFound desc = unknown service/);
  await says('no-rpc', /timeout: failed to connect service "\S+:5001" within 1s: context deadline exceeded/);
});

it('exec: by the exit code, within its time', async () => {
  await says('fails', "Readiness probe failed: cat: can't open '/tmp/healthy': No such file or directory");
  await says('late', 'Readiness probe failed: command timed out: "sleep 60" timed out after 1s');
  await says('absent', 'Readiness probe errored and resulted in unknown state: rpc error: .*no-such-program');
});

it('liveness: the container is started again after so many failures', async () => {
  await ready('lives');
  await run('exec lives -- rm /tmp/healthy');
  await until(async () => expect(await restarts('lives')).toBe(1));
  await ready('lives');
  const last = '{.status.containerStatuses[0].lastState.terminated.exitCode}';
  expect(await read('pod/lives', last)).toBe('137');
  await says('lives', /Warning +Unhealthy +Pod\/lives +Liveness probe failed: cat: can't open/);
  await says('lives', /Normal +Killing +Pod\/lives +Container main failed liveness probe, will be restarted/);
  await run('delete pod lives --grace-period=1');
});

it('startup: the others wait for it, and its failure starts the container again', async () => {
  await until(async () => expect(await restarts('never-up')).toBeGreaterThan(0));
  await says('never-up', /Normal +Killing .* Container main failed startup probe, will be restarted/);
  await unready('slow');
  expect(await read('pod/slow', '{.status.containerStatuses[0].started}')).toBe('false');
  await run('exec slow -- touch /tmp/up');
  await ready('slow');
  expect(await restarts('slow')).toBe(0);
  expect(await run('describe pod slow')).toMatch(
    /Liveness: +exec \[test -e \/tmp\/up\] delay=0s timeout=60s period=1s #success=1 #failure=1\n +Startup: +exec/,
  );
});
