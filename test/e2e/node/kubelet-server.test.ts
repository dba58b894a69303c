import type { ChildProcess } from 'node:child_process';
import { request } from 'node:https';
import { text } from 'node:stream/consumers';
import { useCluster } from '../../harness/cluster-fixture';
import { transcript } from '../../harness/clients';

/** What the kubelet's server answers, through the API server and to those who come directly. */
const fixture = useCluster(['--nodes=1', '--ephemeral']);
const { run, attempt, apply, read, until } = fixture;
const children: ChildProcess[] = [];
afterAll(() => children.forEach((child) => child.kill('SIGKILL')));

const proxy = '/api/v1/nodes/node-1/proxy';
const raw = (path: string) => run(`get --raw ${proxy}/${path}`);

beforeAll(async () => {
  const readinessProbe = { httpGet: { port: 80 }, periodSeconds: 1 };
  await apply({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web' },
    spec: {
      terminationGracePeriodSeconds: 0,
      containers: [{ name: 'nginx', image: 'nginx', readinessProbe }],
    },
  });
  await run('run waits --image=nowhere/absent');
  await run('wait --for=condition=Ready pod/web --timeout=120s');
});

describe('kubectl get --raw …/nodes/N/proxy/', () => {
  it.each([
    ['pods', (pods: PodList) => expect(pods.items.map(nameOf).sort()).toEqual(['waits', 'web'])],
    ['runningpods/', (pods: PodList) => expect(pods.items.map(nameOf)).toEqual(['web'])],
    ['configz', (config: object) => expect(config).toMatchObject({ kubeletconfig: { maxPods: 110 } })],
    [
      'stats/summary',
      (summary: Summary) => {
        expect(summary.node).toMatchObject({ nodeName: 'node-1', fs: { capacityBytes: expect.any(Number) } });
        const web = summary.pods.find(({ podRef }) => podRef.name === 'web');
        expect(web).toMatchObject({
          containers: [{ name: 'nginx', memory: { usageBytes: expect.any(Number) } }],
        });
      },
    ],
  ])('%s', async (path, check) => {
    // The kubelet hears of a Pod's status a moment later than it has written it.
    await until(async () => check(JSON.parse(await raw(path)) as PodList & Summary));
  });

  const own = 'container="nginx".*namespace="default".*pod="web"';
  it.each([
    ['healthz', /^ok$/],
    ['healthz/syncloop', /^ok$/],
    ['metrics', /^process_start_time_seconds \d/m],
    ['metrics/resource', /^pod_memory_working_set_bytes\{namespace="default",pod="web"\} \d/m],
    ['metrics/cadvisor', new RegExp(`^container_cpu_usage_seconds_total\\{${own}.*\\} \\d`, 'm')],
    ['metrics/cadvisor', new RegExp(`^container_spec_memory_limit_bytes\\{.*${own}\\} 0`, 'm')],
    [
      'metrics/probes',
      /^prober_probe_total\{.*pod="web".*probe_type="Readiness",result="successful"\} [1-9]/m,
    ],
    ['logs/', /<a href="pods\/">pods\/<\/a>/],
  ])('%s: %p', async (path, expected) => {
    expect(await raw(path)).toMatch(expected);
  });

  it('logs/pods/…: a container’s log file', async () => {
    const uid = await read('pod/web', '{.metadata.uid}');
    const log = `logs/pods/default_web_${uid}/nginx/0.log`;
    await until(async () => expect(await raw(log)).toContain(' stderr F '));
  });

  it('nothing: says that it is not there', async () => {
    const { stderr } = await attempt(`get --raw ${proxy}/nothing`);
    expect(stderr).toBe('Error from server (NotFound): the server could not find the requested resource\n');
  });

  it('checkpoint: is refused with the runtime’s reason', async () => {
    const { code, stderr } = await attempt(
      ['create', '--raw', `${proxy}/checkpoint/default/web/nginx`, '-f', '-'],
      '{}',
    );
    expect(code).toBe(1);
    expect(stderr).toContain(
      'checkpointing of default/web/nginx failed (rpc error: code = Unimplemented desc = checkpoints of emulated containers are not supported)',
    );
  });
});

describe('a direct request', () => {
  /** With a token, or without any credentials. */
  const ask = async (path: string, token?: string): Promise<{ code: number; body: string }> => {
    const port = Number(await read('node/node-1', '{.status.daemonEndpoints.kubeletEndpoint.Port}'));
    return new Promise((resolve, reject) => {
      const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
      request(
        { host: '127.0.0.1', port, path, headers, rejectUnauthorized: false, agent: false },
        (answer) => {
          text(answer).then((body) => resolve({ code: answer.statusCode ?? 0, body }), reject);
        },
      )
        .on('error', reject)
        .end();
    });
  };
  const tokenWith = async (name: string, resources: string): Promise<string> => {
    await run(`create serviceaccount ${name}`);
    await run(`create clusterrole ${name} --verb=get --resource=${resources}`);
    await run(`create clusterrolebinding ${name} --clusterrole=${name} --serviceaccount=default:${name}`);
    return (await run(`create token ${name}`)).trim();
  };

  it('without an identity is refused with 401', async () => {
    expect(await ask('/pods')).toEqual({ code: 401, body: 'Unauthorized' });
    expect((await ask('/pods', 'made-up')).code).toBe(401);
  });

  it('is allowed what its subresource of nodes allows, and no more', async () => {
    const token = await tokenWith('fine', 'nodes/stats,nodes/healthz,nodes/log');
    for (const path of ['/stats/summary', '/healthz', '/logs/'])
      expect([path, (await ask(path, token)).code]).toEqual([path, 200]);
    for (const [path, subresource] of [
      ['/metrics', 'metrics'],
      ['/pods', 'proxy'],
      ['/configz', 'proxy'],
      ['/containerLogs/default/web/nginx', 'proxy'],
    ] as const)
      expect(await ask(path, token)).toEqual({
        code: 403,
        body: `Forbidden (user=system:serviceaccount:default:fine, verb=get, resource=nodes, subresource(s)=[${subresource}])`,
      });
  });

  it('by nodes/proxy is allowed what has no subresource of its own', async () => {
    const token = await tokenWith('coarse', 'nodes/proxy');
    for (const path of ['/pods', '/configz', '/healthz', '/containerLogs/default/web/nginx'])
      expect([path, (await ask(path, token)).code]).toEqual([path, 200]);
    expect((await ask('/stats/summary', token)).code).toBe(403);
  });
});

it.each([
  ['exec web -c none -- true', 'Error from server (BadRequest): container none is not valid for pod web'],
  ['exec waits -- true', 'error: unable to upgrade connection: container not found ("waits")'],
  ['exec nobody -- true', 'Error from server (NotFound): pods "nobody" not found'],
  ['attach waits', 'error: unable to upgrade connection: container waits not found in pod waits_default'],
  [
    'exec web -- nothing',
    /^error: Internal error occurred: error executing command in container: failed to exec in container: .* exec: "nothing": executable file not found in \$PATH: unknown$/,
  ],
  [
    'exec web -- /etc/passwd',
    /^error: Internal error occurred: error executing command in container: .* exec: "\/etc\/passwd": permission denied: unknown$/,
  ],
  [
    'port-forward waits :80',
    'error: unable to forward port because pod is not running. Current status=Pending',
  ],
])('%s is refused', async (command, message) => {
  const { code, stderr } = await attempt(command);
  expect(code).toBe(1);
  const last = stderr.trim().split('\n').at(-1);
  if (typeof message === 'string') expect(last).toBe(message);
  else expect(last).toMatch(message);
});

it('port-forward says when nobody listens on a port, and ends', async () => {
  const forward = fixture.kubectl.spawn(['port-forward', 'web', ':81']);
  children.push(forward);
  const ended = new Promise((resolve) => forward.once('close', resolve));
  const said = transcript(forward);
  const forwarding = /Forwarding from 127\.0\.0\.1:(\d+)/;
  const port = forwarding.exec(await said.until(forwarding))?.[1];
  await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow();
  await said.until(
    /error forwarding port 81 to pod \w+, uid : .*127\.0\.0\.1:81: connect: connection refused/,
  );
  expect(await ended).toBe(1);
});

interface PodList {
  items: { metadata: { name: string } }[];
}
interface Summary {
  node: object;
  pods: { podRef: { name: string } }[];
}
const nameOf = ({ metadata }: { metadata: { name: string } }) => metadata.name;
