import { eventually } from '@tinkernetes/component-base/testing';
import { startTestRuntime, type StartedPod, type TestRuntime } from '../testing/start-runtime';

const env = (values: Record<string, string>) => ({
  envs: Object.entries(values).map(([key, value]) => ({ key, value: Buffer.from(value) })),
});

describe('programs of images', () => {
  let node: TestRuntime;
  let client: StartedPod;

  beforeAll(async () => {
    node = await startTestRuntime();
    client = await node.startPod({ name: 'client', image: 'busybox', command: ['sleep', '3600'] });
  });
  afterAll(() => node.stop());

  const logged = (pod: StartedPod, text: string | RegExp) =>
    eventually(() => expect(node.log(pod)).toMatch(text));
  const wget = async (address: string) => (await node.sh(client, `wget -qO- 'http://${address}'`)).output;

  it.each<[string, string, string[], RegExp]>([
    ['python -c print', 'python:3.13', ['python', '-c', 'print("a", 1)\nprint(f"b")'], /F a 1\n.*F b\n/],
    [
      'python loops',
      'python:3.13-slim',
      ['python', '-u', '-c', 'import time\nfor i in range(3):\n  print(f"turn {i}")\n  time.sleep(0.01)'],
      /turn 0\n.*turn 1\n.*turn 2\n/,
    ],
    [
      'python environment',
      'python:3',
      ['python3', '-c', 'import os; print(os.environ["HOME"])'],
      /F \/root\n/,
    ],
    [
      'node console.log',
      'node:22',
      ['node', '-e', 'console.log("one"); console.log(\'two\')'],
      /F one\n.*F two\n/,
    ],
    ['perl print', 'perl:5.42', ['perl', '-le', 'print "hi"'], /F hi\n/],
    [
      'agnhost entrypoint-tester',
      'registry.k8s.io/e2e-test-images/agnhost:2.53',
      ['/agnhost', 'entrypoint-tester', 'x'],
      /\[\/agnhost entrypoint-tester x\]/,
    ],
    [
      'agnhost logs-generator',
      'registry.k8s.io/e2e-test-images/agnhost:2.53',
      ['/agnhost', 'logs-generator', '--log-lines-total', '3', '--run-duration', '0.1s'],
      /(F I\d{4} .* 1 logs_generator\.go:76\] \d (PUT|GET|POST) \/api\/v1\/namespaces\/.*\n.*){3}/,
    ],
    [
      'agnhost etc-hosts',
      'registry.k8s.io/e2e-test-images/agnhost:2.53',
      ['/agnhost', 'etc-hosts'],
      /127\.0\.0\.1\s+localhost/,
    ],
    [
      'agnhost mounttest',
      'registry.k8s.io/e2e-test-images/agnhost:2.53',
      ['/agnhost', 'mounttest', '--file_content=/etc/hostname', '--file_mode=/etc/hostname'],
      /content of file "\/etc\/hostname": [\s\S]*mode of file "\/etc\/hostname": -rw-r--r--/,
    ],
  ])('%s', async (name, image, command, expected) => {
    await logged(
      await node.startPod({ name: name.replace(/\W+/g, '-').toLowerCase(), image, command }),
      expected,
    );
  });

  it.each<[string, string, { command?: string[]; args?: string[]; path: string; answer: RegExp | string }]>([
    [
      'python listing',
      'python:3',
      {
        command: ['python', '-m', 'http.server', '8000', '-d', '/'],
        path: ':8000/',
        answer: /<h1>Directory listing for \/<\/h1>[^]*<li><a href="etc\/">etc\/<\/a><\/li>/,
      },
    ],
    [
      'python http.server',
      'python:3',
      {
        command: ['python', '-m', 'http.server', '8000', '-d', '/etc'],
        path: ':8000/hostname',
        answer: /python-http-server/,
      },
    ],
    [
      'python handler',
      'python:3',
      {
        command: [
          'python3',
          '-c',
          'from http.server import *\nclass H(BaseHTTPRequestHandler):\n  def do_GET(self):\n    self.send_response(200); self.end_headers(); self.wfile.write(b"from python")\nHTTPServer(("", 8080), H).serve_forever()',
        ],
        path: ':8080',
        answer: 'from python',
      },
    ],
    [
      'http-echo',
      'hashicorp/http-echo',
      { args: ['-text=hello', '-listen=:5000'], path: ':5000', answer: 'hello\n' },
    ],
    [
      'hello-app',
      'gcr.io/google-samples/hello-app:2.0',
      { path: ':8080', answer: 'Hello, world!\nVersion: 2.0.0\nHostname: hello-app\n' },
    ],
    [
      'whoami',
      'traefik/whoami',
      { path: '/x', answer: /^Hostname: whoami\nIP: [\d.]+\nRemoteAddr: [\d.:]+\nGET \/x HTTP\/1.1\n/ },
    ],
    ['hpa-example', 'registry.k8s.io/hpa-example', { path: '', answer: 'OK!' }],
    [
      'agnhost fake-gitserver',
      'registry.k8s.io/e2e-test-images/agnhost:2.53',
      { args: ['fake-gitserver'], path: ':8000', answer: 'I am a fake git server' },
    ],
    [
      'agnhost serve-hostname',
      'registry.k8s.io/e2e-test-images/agnhost:2.53',
      { args: ['serve-hostname'], path: ':9376', answer: 'agnhost-serve-hostname' },
    ],
    [
      'agnhost test-webserver',
      'registry.k8s.io/e2e-test-images/agnhost:2.53',
      { args: ['test-webserver'], path: '/etc/hostname', answer: 'agnhost-test-webserver\n' },
    ],
    [
      'busybox httpd',
      'busybox',
      {
        command: ['sh', '-c', 'echo page > /tmp/index.html; httpd -f -p 8080 -h /tmp'],
        path: ':8080/',
        answer: 'page\n',
      },
    ],
  ])('%s answers over HTTP', async (name, image, { command, args, path, answer }) => {
    const pod = await node.startPod({ name: name.replace(/\W+/g, '-'), image, command, args });
    await eventually(async () => expect(await wget(`${pod.ip}${path}`)).toMatch(answer));
  });

  it('agnhost porter serves what its variables say, and netexec asks others', async () => {
    const image = 'registry.k8s.io/e2e-test-images/agnhost:2.53';
    const porter = await node.startPod({
      name: 'porter',
      image,
      args: ['porter'],
      container: env({ SERVE_PORT_81: 'eighty-one' }),
    });
    await eventually(async () => expect(await wget(`${porter.ip}:81`)).toBe('eighty-one'));
    const one = await node.startPod({ name: 'one', image, args: ['netexec'] });
    const two = await node.startPod({ name: 'two', image, args: ['netexec'] });
    const dial = (query: string) => wget(`${one.ip}:8080/dial?host=${two.ip}&${query}`);
    expect(JSON.parse(await dial('port=8080&request=hostname&tries=2'))).toEqual({
      responses: ['two', 'two'],
    });
    expect(JSON.parse(await dial('port=8081&request=hostname&protocol=udp'))).toEqual({ responses: ['two'] });
    expect(JSON.parse(await dial('port=99&request=hostname'))).toEqual({
      errors: [expect.stringContaining('connection refused')],
    });
    const shell = JSON.parse(await wget(`${one.ip}:8080/shell?cmd=echo+in%3B+exit+3`)) as object;
    expect(shell).toEqual({ output: 'in\n', error: 'exit status 3' });
    const connected = (target: string) => node.sh(one, `/agnhost connect ${target} --timeout=1s`);
    expect(await connected(`${two.ip}:8080`)).toEqual({ output: '', exitCode: 0 });
    expect(await connected(`${two.ip}:99`)).toEqual({ output: 'REFUSED\n', exitCode: 1 });
  });

  it('postgres lets in who has the password and answers simple queries', async () => {
    const pg = await node.startPod({
      name: 'pg',
      image: 'postgres:17',
      container: env({ POSTGRES_PASSWORD: 'secret', POSTGRES_DB: 'shop' }),
    });
    await logged(pg, 'ready to accept connections');
    expect(await node.sh(pg, 'psql -U postgres -d shop -t -c "select 1"')).toEqual({
      output: ' 1\n\n',
      exitCode: 0,
    });
    const other = await node.startPod({
      name: 'pg-client',
      image: 'postgres:17',
      command: ['sleep', '3600'],
    });
    const psql = (more: string) =>
      node.sh(other, `${more} psql -h ${pg.ip} -U postgres -c "select 'x' as y"`);
    expect((await psql('PGPASSWORD=secret')).output).toContain('(1 row)');
    expect(await psql('PGPASSWORD=wrong')).toEqual({
      output: 'psql: error: FATAL:  password authentication failed for user "postgres"\n',
      exitCode: 2,
    });
    const odd = await node.sh(pg, 'psql -U postgres -c "select constructor"');
    expect(odd.output).toContain("can't run: select constructor");
    for (const bytes of ['\\000\\000\\000\\000', '\\000\\000\\000\\004'])
      await node.sh(other, `printf '${bytes}' | nc -w 1 ${pg.ip} 5432`);
    expect(await node.sh(other, `pg_isready -h ${pg.ip}`)).toEqual({
      output: `${pg.ip}:5432 - accepting connections\n`,
      exitCode: 0,
    });
    expect((await node.sh(other, `pg_isready -h ${client.ip}`)).exitCode).toBe(2);
  });

  it('redis keeps lists, hashes, sets and what expires, and wants its password', async () => {
    const redis = await node.startPod({
      name: 'redis',
      image: 'redis:8',
      args: ['redis-server', '--requirepass', 'pw'],
    });
    const run = async (command: string) => (await node.sh(redis, `redis-cli -a pw ${command}`)).output;
    expect((await node.sh(redis, 'redis-cli get x')).output).toBe('NOAUTH Authentication required.\n');
    expect(await run('rpush l a b c')).toBe('3\n');
    expect(await run('lrange l 0 -1')).toBe('a\nb\nc\n');
    expect(await run('hset h f 1 g 2')).toBe('2\n');
    expect(await run('hget h g')).toBe('2\n');
    expect(await run('sadd s x x y')).toBe('2\n');
    expect(await run('set gone v px 1')).toBe('OK\n');
    await eventually(async () => expect(await run('exists gone')).toBe('0\n'));
    expect(await run('incr l')).toMatch(/WRONGTYPE/);
    expect(await run('type h')).toBe('hash\n');
  });

  it('redis reads its file, and changes its settings, as the configuration tutorial does', async () => {
    const redis = await node.startPod({
      name: 'redis-configured',
      image: 'redis:8.0.2',
      args: [
        'sh',
        '-c',
        'printf "maxmemory 2mb\\nmaxmemory-policy allkeys-lru\\n" > /c; exec redis-server /c',
      ],
    });
    const run = async (command: string) => (await node.sh(redis, command)).output;
    await eventually(async () => expect(await run('redis-cli ping')).toBe('PONG\n'));
    expect(await run('redis-cli CONFIG GET maxmemory')).toBe('maxmemory\n2097152\n');
    expect(await run('redis-cli CONFIG GET "maxmemory-*"')).toBe('maxmemory-policy\nallkeys-lru\n');
    expect(await run('redis-cli CONFIG SET maxmemory-policy never')).toContain('must be one of');
    // What is typed, or piped in, line by line.
    const script = 'printf "CONFIG SET maxmemory 4mb\\nset k \\"two words\\"\\nget k\\n" | redis-cli';
    expect(await run(script)).toBe('OK\nOK\ntwo words\n');
    expect(await run('redis-cli config get maxmemory')).toBe('maxmemory\n4194304\n');
  });

  it('redis finds its keys again when it was stopped, and none where it saves nothing', async () => {
    const redis = await node.startPod({
      name: 'redis-restarted',
      image: 'redis:8',
      args: ['sh', '-c', 'redis-server; redis-server --save ""; exec redis-server --dir /tmp'],
    });
    const run = async (command: string) => (await node.sh(redis, command)).output;
    const directory = 'redis-cli config get dir; redis-cli config get save | tail -n 1; redis-cli get a';
    await eventually(async () => expect(await run('redis-cli ping')).toBe('PONG\n'));
    await run('redis-cli set a 1; redis-cli rpush l x y; kill $(pidof redis-server)');
    await eventually(async () => expect(await run(directory)).toBe('dir\n/data\n\n1\n'));
    expect(await run('redis-cli lrange l 0 -1')).toBe('x\ny\n');
    await run('redis-cli set a 2; redis-cli config set dir /tmp; kill $(pidof redis-server)');
    await eventually(async () => expect(await run('redis-cli config get save')).toContain('3600'));
    expect(await run('redis-cli get a; redis-cli save; ls /tmp')).toBe('\nOK\ndump.rdb\n');
    expect(await run('echo REDIS0011 > /tmp/dump.rdb; redis-server --dir /tmp 2>&1')).toBe(
      'Fatal error loading the DB: Wrong signature trying to load DB from file. Exiting.\n',
    );
  });

  it('leaves the node alone when a program ends before the signals that it would have waited for', async () => {
    const user = { linux: { securityContext: { runAsUser: { value: 101 } } } };
    const web = await node.startPod({ name: 'unprivileged', image: 'nginx', container: user });
    await logged(web, 'open() "/run/nginx.pid" failed (Permission denied)');
    expect((await node.sh(client, 'top -b -n 1')).output).toContain('sleep 3600');
  });

  it('nginx takes a changed configuration when it is told to, and ends when asked', async () => {
    const web = await node.startPod({ name: 'reloads', image: 'nginx' });
    const site = 'server { listen 8081; location / { return 200 "second\\n"; } }';
    await node.sh(
      web,
      `printf '%s' '${site.replaceAll('\\n', '\\\\n')}' > /etc/nginx/conf.d/second.conf; nginx -s reload`,
    );
    await eventually(async () => expect(await wget(`${web.ip}:8081`)).toContain('second'));
    await node.sh(web, 'rm /etc/nginx/conf.d/second.conf; kill -HUP $(cat /run/nginx.pid)');
    await eventually(async () => expect(await wget(`${web.ip}:8081`)).toContain('refused'));
    expect((await node.sh(web, 'nginx -s nonsense')).output).toContain('invalid option: "-s nonsense"');
    expect(await wget(`${web.ip}:80`)).toContain('Welcome to nginx!');
  });

  it('luksa/kubia-unhealthy answers five times', async () => {
    const pod = await node.startPod({ name: 'sick', image: 'luksa/kubia-unhealthy' });
    for (let i = 0; i < 5; i++) expect(await wget(`${pod.ip}:8080`)).toBe("You've hit sick\n");
    expect(await wget(`${pod.ip}:8080`)).toContain('500');
  });

  it('answers ping, shows its sockets, and copies files in and out as kubectl cp does', async () => {
    const nginx = await node.startPod({ name: 'web', image: 'nginx' });
    expect((await node.sh(client, `ping -c 2 -i 0.01 ${nginx.ip}`)).output).toMatch(
      /2 packets transmitted, 2 packets received, 0% packet loss/,
    );
    const web = await node.startPod({
      name: 'busy-web',
      image: 'busybox',
      command: ['httpd', '-f', '-p', '8080'],
    });
    expect((await node.sh(web, 'netstat -ltn')).output).toMatch(/tcp .*0\.0\.0\.0:8080 .*LISTEN/);
    await node.sh(web, 'mkdir -p /data/sub && echo one > /data/a && echo two > /data/sub/b');
    const packed = await node.sh(
      web,
      'tar cf - -C / data | (mkdir /copy; cd /copy; tar xmf -); cat /copy/data/a /copy/data/sub/b',
    );
    expect(packed).toEqual({ output: 'one\ntwo\n', exitCode: 0 });
  });

  it('shows limits and processes where scripts look for them', async () => {
    const pod = await node.startPod({
      name: 'limits',
      image: 'busybox',
      command: ['sleep', '3600'],
      container: {
        linux: {
          resources: {
            memoryLimitInBytes: 64 * 1024 * 1024,
            cpuQuota: 50_000,
            cpuPeriod: 100_000,
            cpuShares: 512,
          },
        },
      },
    });
    const read = async (files: string) => (await node.sh(pod, `cat ${files}`)).output;
    expect(await read('/sys/fs/cgroup/memory.max /sys/fs/cgroup/cpu.max')).toBe('67108864\n50000 100000\n');
    expect(await read('/proc/1/cmdline')).toBe('sleep\x003600\x00');
    expect(await read('/proc/self/status')).toMatch(/Name:\tcat\n[\s\S]*CapBnd:\t00000000a80425fb\n/);
    expect((await node.sh(pod, 'ps | grep -c "[s]leep 3600"')).output).toBe('1\n');
  });
});
