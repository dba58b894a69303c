import { useCluster } from '../../harness/cluster-fixture';

/** The images that tutorials and tests use, as kubectl shows them. */
const { run, apply, read, until } = useCluster(['--nodes=1', '--ephemeral']);

const agnhost = 'registry.k8s.io/e2e-test-images/agnhost:2.53';
const pod = (name: string, image: string, container: object = {}, spec: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, labels: { app: 'program' } },
  spec: {
    terminationGracePeriodSeconds: 0,
    restartPolicy: 'Never',
    containers: [{ name: 'main', image, ...container }],
    ...spec,
  },
});

/** From inside the Pod `client`, which has curl. */
const ask = async (name: string, rest: string, options: readonly string[] = []): Promise<string> => {
  const ip = await read(`pod/${name}`, '{.status.podIP}');
  return run(['exec', 'client', '--', 'curl', '-s', '-m', '20', ...options, `http://${ip}${rest}`]);
};

const servers: [name: string, image: string, container: object, path: string, answer: string | RegExp][] = [
  ['nginx', 'nginx', {}, '/', /<h1>Welcome to nginx!<\/h1>/],
  ['httpd', 'httpd', {}, '/', '<html><body><h1>It works!</h1></body></html>\n'],
  ['kubia', 'luksa/kubia', {}, ':8080/', "You've hit kubia\n"],
  [
    'python',
    'python:3',
    { command: ['python', '-m', 'http.server', '8000'], workingDir: '/' },
    ':8000/',
    /<h1>Directory listing for \/<\/h1>/,
  ],
  [
    'node',
    'node:22',
    { args: ['-e', 'require("http").createServer((q, s) => s.end("from node")).listen(8080)'] },
    ':8080/',
    'from node',
  ],
  ['netexec', agnhost, { args: ['netexec', '--http-port=8080'] }, ':8080/hostname', 'netexec'],
  ['echoes', agnhost, { args: ['netexec'] }, ':8080/echo?msg=hello', 'hello'],
  ['hostname', agnhost, { args: ['serve-hostname'] }, ':9376/', 'hostname'],
  [
    'porter',
    agnhost,
    { args: ['porter'], env: [{ name: 'SERVE_PORT_90', value: 'ninety' }] },
    ':90/',
    'ninety',
  ],
  ['webserver', agnhost, { args: ['test-webserver'] }, '/etc/hostname', 'webserver\n'],
  ['git', agnhost, { args: ['fake-gitserver'] }, ':8000/', 'I am a fake git server'],
];

const ending: [name: string, image: string, container: object, log: string | RegExp][] = [
  ['hello', 'hello-world', {}, /Hello from Docker!/],
  [
    'pi',
    'perl:5.34',
    { command: ['perl', '-Mbignum=bpi', '-wle', 'print bpi(50)'] },
    /^3\.14159265358979323846264338327950288419716939937\d+\n$/,
  ],
  ['entrypoint', agnhost, { args: ['entrypoint-tester', 'a', 'b'] }, '[/agnhost entrypoint-tester a b]\n'],
  [
    'suffix',
    agnhost,
    { args: ['dns-suffix'] },
    'default.svc.cluster.local,svc.cluster.local,cluster.local\n',
  ],
  ['hosts', agnhost, { args: ['etc-hosts'] }, /^127\.0\.0\.1\s+localhost$/m],
  [
    'generator',
    agnhost,
    { args: ['logs-generator', '--log-lines-total=3', '--run-duration=1s'] },
    /^(I\d{4} \S+ +1 logs_generator\.go:76\] \d (GET|PUT|POST) \/api\/v1\/.*\n){3}$/,
  ],
  [
    'mounts',
    agnhost,
    { args: ['mounttest', '--file_mode=/etc/hostname', '--file_content=/etc/hostname'] },
    /mode of file "\/etc\/hostname": -rw-r--r--\ncontent of file "\/etc\/hostname": mounts\n/,
  ],
  ['python-c', 'python:3', { command: ['python', '-c', 'print("from python")'] }, 'from python\n'],
  ['node-e', 'node:22', { command: ['node', '-e', 'console.log("from node")'] }, 'from node\n'],
];

beforeAll(async () => {
  await apply(
    pod('client', 'curlimages/curl', { args: ['sleep', '3600'] }),
    pod('redis', 'redis'),
    pod('postgres', 'postgres', { env: [{ name: 'POSTGRES_PASSWORD', value: 'secret' }] }),
    pod('unset', 'postgres'),
    pod('pause', agnhost, { args: ['pause'] }),
    ...servers.map(([name, image, container]) => pod(name, image, container)),
    ...ending.map(([name, image, container]) => pod(name, image, container)),
  );
  const lasting = ['client', 'redis', 'postgres', 'pause', ...servers.map(([name]) => name)];
  await run(['wait', '--for=condition=Ready', ...lasting.map((name) => `pod/${name}`), '--timeout=140s']);
});

it.each(servers)('%s serves', async (name, _image, _container, path, answer) => {
  // A program listens a moment after its container has started.
  await until(async () => {
    const body = await ask(name, path);
    if (typeof answer === 'string') expect(body).toBe(answer);
    else expect(body).toMatch(answer);
  });
});

it.each(ending)('%s prints', async (name, _image, _container, log) => {
  await until(async () => expect(await read(`pod/${name}`, '{.status.phase}')).toBe('Succeeded'));
  const printed = await run(`logs ${name}`);
  if (typeof log === 'string') expect(printed).toBe(log);
  else expect(printed).toMatch(log);
});

it('redis keeps keys, and answers over the network', async () => {
  const cli = (command: string) => run(`exec redis -- redis-cli ${command}`);
  await until(async () => expect(await cli('ping')).toBe('PONG\n'));
  expect(await cli('set name value')).toBe('OK\n');
  expect(await cli('get name')).toBe('value\n');
  expect(await cli('incr count')).toBe('1\n');
});

it('postgres accepts connections, but not without a password for its superuser', async () => {
  await until(async () =>
    expect(await run('exec postgres -- pg_isready')).toBe(
      '/var/run/postgresql:5432 - accepting connections\n',
    ),
  );
  await until(async () => expect(await read('pod/unset', '{.status.phase}')).toBe('Failed'));
  expect(await run('logs unset')).toContain('superuser password is not specified');
});

it('kubia-unhealthy fails its sixth request, and its liveness probe has it started again', async () => {
  const livenessProbe = { httpGet: { path: '/', port: 8080 }, periodSeconds: 1, failureThreshold: 1 };
  const container = { livenessProbe };
  await apply(pod('unhealthy', 'luksa/kubia-unhealthy', container, { restartPolicy: 'Always' }));
  const count = '{.status.containerStatuses[0].restartCount}';
  await until(async () => expect(Number(await read('pod/unhealthy', count))).toBeGreaterThan(0));
});

it('agnhost pause says that it is paused', async () => {
  expect(await run('logs pause')).toBe('Paused\n');
});
