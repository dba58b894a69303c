import { eventually } from '@tinkernetes/component-base/testing';
import { startTestRuntime, type StartedPod, type TestRuntime } from '../testing/start-runtime';
import { computePi } from './programs/perl';

describe('images as programs', () => {
  let node: TestRuntime;
  let client: StartedPod;

  beforeAll(async () => {
    node = await startTestRuntime({ genericImages: true });
    client = await node.startPod({ name: 'client', image: 'busybox', command: ['sleep', '3600'] });
  });
  afterAll(() => node.stop());

  const logged = (pod: StartedPod, text: string | RegExp) =>
    eventually(() => expect(node.log(pod)).toMatch(text));
  const wget = (ip: string, path = '') => node.sh(client, `wget -qO- http://${ip}${path}`);

  it('serves web pages from nginx, httpd and kubia to another container', async () => {
    const nginx = await node.startPod({ name: 'nginx', image: 'nginx:1.27-alpine' });
    expect((await wget(nginx.ip)).output).toContain('Welcome to nginx!');
    expect(await wget(nginx.ip, '/nope')).toEqual({
      output: 'wget: server returned error: HTTP/1.1 404 Not Found\n',
      exitCode: 1,
    });
    expect((await wget(nginx.ip, '/%')).output).toContain('400 Bad Request');
    const httpd = await node.startPod({ name: 'httpd', image: 'httpd:2.4' });
    expect((await wget(httpd.ip)).output).toContain('It works!');
    const kubia = await node.startPod({ name: 'kubia-1', image: 'luksa/kubia' });
    expect((await wget(`${kubia.ip}:8080`)).output).toBe("You've hit kubia-1\n");
  });

  it('shows a page that a container has changed, and obeys a changed configuration', async () => {
    const script =
      'printf "server { listen 8081; location /x { return 200 \\"made here\\"; } }" > /etc/nginx/conf.d/default.conf; exec nginx';
    const pod = await node.startPod({ name: 'configured', image: 'nginx', command: ['sh', '-c', script] });
    await eventually(async () => expect((await wget(`${pod.ip}:8081`, '/x')).output).toBe('made here'));
  });

  it('computes pi for the well-known Job', async () => {
    const pod = await node.startPod({
      name: 'pi',
      image: 'perl:5.34.0',
      command: ['perl', '-Mbignum=bpi', '-wle', 'print bpi(50)'],
    });
    await logged(pod, /F 3\.1415926535897932384626433832795028841971693993751\n/);
  });

  it('keeps values in redis', async () => {
    const redis = await node.startPod({ name: 'redis', image: 'redis:7' });
    expect(
      (
        await node.sh(
          redis,
          'redis-cli ping; redis-cli set a 1; redis-cli incr a; redis-cli get a; redis-cli get b',
        )
      ).output,
    ).toBe('PONG\nOK\n2\n2\n\n');
  });

  it('goes on serving redis when a client breaks off', async () => {
    const redis = await node.startPod({ name: 'redis-broken', image: 'redis:7' });
    expect((await node.sh(client, `wget -qO- http://${redis.ip}:6379`)).exitCode).not.toBe(0);
    expect((await node.sh(redis, 'redis-cli ping')).output).toBe('PONG\n');
  });

  it('wants a password for postgres, then is ready', async () => {
    const failed = await node.startPod({ name: 'pg-bad', image: 'postgres' });
    await logged(failed, /superuser password is not specified/);
    const pg = await node.startPod({
      name: 'pg',
      image: 'postgres:16',
      container: { envs: [{ key: 'POSTGRES_PASSWORD', value: Buffer.from('x') }] },
    });
    await logged(pg, /ready to accept connections/);
    expect((await node.sh(pg, 'pg_isready')).exitCode).toBe(0);
  });

  it('says hello, runs python and node one-liners', async () => {
    await logged(await node.startPod({ name: 'hello', image: 'hello-world' }), /Hello from Docker!/);
    await logged(
      await node.startPod({ name: 'py', image: 'python:3', command: ['python', '-c', 'print("hi")'] }),
      /F hi/,
    );
    const js = await node.startPod({
      name: 'js',
      image: 'node:22',
      command: ['node', '-e', "require('http').createServer((q,r)=>r.end('from node')).listen(3000)"],
    });
    expect((await wget(`${js.ip}:3000`)).output).toBe('from node');
  });

  it('runs the parts of agnhost that tests use', async () => {
    const pod = await node.startPod({
      name: 'agn',
      image: 'registry.k8s.io/e2e-test-images/agnhost:2.53',
      args: ['netexec', '--http-port=8080'],
    });
    expect((await wget(`${pod.ip}:8080`, '/hostname')).output).toBe('agn');
    expect((await wget(`${pod.ip}:8080`, '/clientip')).output).toMatch(new RegExp(`^${client.ip}:\\d+$`));
  });

  it('curls', async () => {
    const nginx = await node.startPod({ name: 'target', image: 'nginx' });
    await logged(
      await node.startPod({
        name: 'curl',
        image: 'curlimages/curl',
        args: ['-s', '-o', '/dev/null', '-w', '%{http_code}', nginx.ip],
      }),
      /P 200/,
    );
    await logged(
      await node.startPod({
        name: 'refused',
        image: 'curlimages/curl',
        args: ['-sS', `http://${nginx.ip}:81`],
      }),
      /curl: \(7\) Failed to connect/,
    );
  });

  it.each([
    ['curlimages/curl', ['sh', '-c', 'echo a shell'], /F a shell/],
    ['curlimages/curl', ['--version'], /F curl /],
    ['node', ['-e', 'console.log("script")'], /F script/],
    ['redis', ['--port', '7000'], /Ready to accept connections/],
    ['redis', ['sh', '-c', 'echo a shell'], /F a shell/],
  ])('has %s take %j as its entrypoint does', async (image, args, expected) => {
    const name = `entry-${image.replace('/', '-')}-${args[0]?.replaceAll('-', '')}`;
    await logged(await node.startPod({ name, image, args }), expected);
  });

  it('stands in for images that nobody defined, on their declared ports', async () => {
    const pod = await node.startPod({
      name: 'generic',
      image: 'quay.io/acme/shop:7',
      container: {
        annotations: { 'io.kubernetes.container.ports': '[{"containerPort":9000,"protocol":"TCP"}]' },
      },
    });
    expect((await wget(`${pod.ip}:9000`, '/x')).output).toContain('quay.io/acme/shop on generic: GET /x');
  });

  it('streams output as it is written', async () => {
    const pod = await node.startPod({
      name: 'ticker',
      image: 'busybox',
      command: ['sh', '-c', 'while true; do echo tick; sleep 0.05; done'],
    });
    await logged(pod, /(tick\n.*){3}/);
    await node.runtime.stopContainer({ containerId: pod.containerId, timeout: 0 });
  });

  it.each([
    [
      'exit-after',
      { 'mock.tinkernetes.dev/exit-after': '20ms', 'mock.tinkernetes.dev/exit-code': '3' },
      { exitCode: 3, reason: 'Error' },
    ],
    ['oom-after', { 'mock.tinkernetes.dev/main.oom-after': '20ms' }, { exitCode: 137, reason: 'OOMKilled' }],
    ['crash-times', { 'mock.tinkernetes.dev/crash-times': '1' }, { exitCode: 1, reason: 'Error' }],
  ])('fails by annotation: %s', async (name, annotations, expected) => {
    const pod = await node.startPod({ name, image: 'nginx', sandbox: { annotations } });
    await eventually(async () => {
      const { status } = await node.runtime.containerStatus({ containerId: pod.containerId });
      expect(status).toMatchObject({ state: 'CONTAINER_EXITED', ...expected });
    });
  });
});

it('rounds the last digit of pi', async () => {
  expect(await computePi(5, async () => undefined)).toBe('31416');
});
