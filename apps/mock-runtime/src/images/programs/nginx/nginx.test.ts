import { createSelfSignedCertificate } from '@tinkernetes/pki';
import { eventually } from '@tinkernetes/component-base/testing';
import { startTestRuntime, type StartedPod, type TestRuntime } from '../../../testing/start-runtime';

const main = (http: string) => `events {}\nhttp {\n  access_log /dev/stdout;\n${http}\n}\n`;

describe('nginx', () => {
  let runtime: TestRuntime;
  let count = 0;

  beforeAll(async () => {
    runtime = await startTestRuntime();
  });
  afterAll(() => runtime.stop());

  /** A container with nginx and this configuration, which a shell writes before it becomes nginx. */
  async function start(configuration: string, after = ''): Promise<StartedPod> {
    const script = `cat > /etc/nginx/nginx.conf <<'END'\n${configuration}\nEND\n${after}\nexec nginx -g 'daemon off;'`;
    const pod = await runtime.startPod({
      name: `web-${count++}`,
      image: 'nginx',
      command: ['sh', '-c', script],
    });
    await started(pod);
    return pod;
  }
  const started = (pod: StartedPod) =>
    eventually(() => expect(runtime.log(pod)).toContain('start worker processes'));
  const curl = (pod: StartedPod, args: string) =>
    runtime.sh(pod, `curl -s ${args}`).then(({ output }) => output);

  it.each([
    ['an exact location wins', '/exact', 'exact'],
    ['the longest prefix wins', '/images/small/x', 'small'],
    ['a regular expression goes before a prefix', '/images/x.gif', 'gif gif'],
    ['but not before ^~', '/fixed/x.gif', 'fixed'],
    ['named groups are variables', '/user/ann', 'ann'],
    ['rewrite … last looks for a location again', '/old/exact', 'exact'],
    ['if with a header', '-H X-Test:1 /images', 'header'],
    ['map', '/map?kind=a', 'first'],
  ])('%s', async (_, request, expected) => {
    const pod = await locations();
    const [path = '', ...options] = request.split(' ').reverse();
    expect(await curl(pod, `${options.reverse().join(' ')} 'localhost${path}'`)).toBe(expected);
  });

  let shared: Promise<StartedPod> | undefined;
  const locations = () =>
    (shared ??= start(
      main(`
      map $arg_kind $result { a first; default other; }
      server {
        listen 80;
        if ($http_x_test) { return 200 header; }
        location = /exact { return 200 "exact"; }
        location /images { return 200 images; }
        location /images/small { return 200 small; }
        location ~* \\.(gif|png)$ { return 200 "gif $1"; }
        location ^~ /fixed { return 200 fixed; }
        location ~ ^/user/(?<name>\\w+)$ { return 200 $name; }
        rewrite ^/old(/.*)$ $1 last;
        location /map { return 200 $result; }
      }`),
    ));

  it('serves files by root, alias, try_files and autoindex, with error pages', async () => {
    const pod = await start(
      main(`
      server {
        listen 80;
        root /srv;
        error_page 404 /missing.html;
        location /app/ { try_files $uri $uri/ /app/index.html; }
        location /static/ { alias /data/; autoindex on; }
        location /only/ { try_files $uri =418; }
      }`),
      'mkdir -p /srv/app /data/sub; echo app > /srv/app/index.html; echo gone > /srv/missing.html; echo one > /data/one.txt',
    );
    expect(await curl(pod, 'localhost/app/some/route')).toBe('app\n');
    expect(await curl(pod, 'localhost/static/one.txt')).toBe('one\n');
    expect(await curl(pod, 'localhost/static/')).toContain('<a href="one.txt">one.txt</a>');
    expect(await curl(pod, "-o /dev/null -w '%{http_code}' localhost/only/x")).toBe('418');
    expect(await curl(pod, "-w '%{http_code}' localhost/nothing")).toBe('gone\n404');
    expect(await curl(pod, '-i localhost/app')).toContain('Location: http://localhost/app/');
  });

  it('passes requests on: path, host, headers, body, turns, and 502 where nobody listens', async () => {
    const backend = await start(
      main(`server { listen 8080; location / { return 200 "$request_method $request_uri $host $http_x_from"; } }
      server { listen 8081; location / { return 200 second; } }`),
    );
    const pod = await start(
      main(`
      upstream both { server ${backend.ip}:8080; server ${backend.ip}:8081; }
      server {
        listen 80;
        location / { proxy_pass http://${backend.ip}:8080; proxy_set_header Host $host; proxy_set_header X-From me; }
        location /api/ { proxy_pass http://${backend.ip}:8080/v1/; }
        location /turns { proxy_pass http://both; }
        location /nobody { proxy_pass http://${backend.ip}:9; }
      }`),
    );
    expect(await curl(pod, '-X POST -d body localhost/a?b=c')).toBe('POST /a?b=c localhost me');
    expect(await curl(pod, '-i localhost/a')).toMatch(
      /^HTTP\/1\.1 200 OK\r\nServer: nginx[^]*\nContent-Type: text\/plain\r\n/,
    );
    expect(await curl(pod, 'localhost/api/x?y')).toBe(`GET /v1/x?y ${backend.ip} `);
    const turns = [await curl(pod, 'localhost/turns'), await curl(pod, 'localhost/turns')];
    expect(turns).toContain('second');
    expect(turns).toContain('GET /turns both ');
    expect(await curl(pod, "-o /dev/null -w '%{http_code}' localhost/nobody")).toBe('502');
    await eventually(() =>
      expect(runtime.log(pod)).toContain(
        'connect() failed (111: Connection refused) while connecting to upstream',
      ),
    );
  });

  it.each([
    ['listen 80', 'unexpected "}" in /etc/nginx/nginx.conf:4'],
    ['lissen 80;', 'unknown directive "lissen" in /etc/nginx/nginx.conf:4'],
    ['listen 80;', 'unexpected end of file, expecting "}" in /etc/nginx/nginx.conf:6', ' '],
    ['user nginx;', '"user" directive is not allowed here in /etc/nginx/nginx.conf:4'],
    [
      'include none.conf;',
      'open() "/etc/nginx/none.conf" failed (2: No such file or directory) in /etc/nginx/nginx.conf:4',
    ],
  ])('refuses a configuration with %s', async (line, message, end = '}') => {
    const pod = await locations();
    const text = `events {}\nhttp {\n  server {\n    ${line} ${end}\n}`;
    const { output, exitCode } = await runtime.sh(
      pod,
      `mkdir -p /t; cat > /t/n.conf <<'END'\n${text}\nEND\ncp /etc/nginx/nginx.conf /t/old; cp /t/n.conf /etc/nginx/nginx.conf; nginx -t; code=$?; cp /t/old /etc/nginx/nginx.conf; exit $code`,
    );
    expect(output).toContain(`nginx: [emerg] ${message}`);
    expect(exitCode).toBe(1);
  });

  it('ends when an upstream has no address, and takes a new configuration with -s reload', async () => {
    const pod = await start(main('server { listen 80; location / { return 200 old; } }'));
    expect(await curl(pod, 'localhost')).toBe('old');
    await runtime.sh(pod, "sed -i 's/old/new/' /etc/nginx/nginx.conf; nginx -s reload");
    await eventually(async () => expect(await curl(pod, 'localhost')).toBe('new'));
    const { output } = await runtime.sh(
      pod,
      "echo 'upstream u { server absent.invalid; }' > /etc/nginx/conf.d/u.conf; sed -i 's#http {#http { include conf.d/u.conf;#' /etc/nginx/nginx.conf; nginx -t",
    );
    expect(output).toContain('host not found in upstream "absent.invalid" in /etc/nginx/conf.d/u.conf:1');
  });

  it('serves TLS, by another certificate after a reload, and keeps the old one where the new is none', async () => {
    const certificate = (commonName: string) =>
      createSelfSignedCertificate({
        commonName,
        dnsNames: ['localhost'],
        usages: ['serverAuth'],
        now: Date.now(),
      });
    const [first, second] = await Promise.all([certificate('first'), certificate('second')]);
    const write = (file: string, text: string) => `cat > /etc/nginx/${file} <<'PEM'\n${text}PEM\n`;
    const pod = await start(
      main(
        'server { listen 443 ssl; ssl_certificate c.pem; ssl_certificate_key k.pem; return 200 "$scheme"; }',
      ),
      write('c.pem', first.certificate) + write('k.pem', first.key) + write('ca.pem', first.certificate),
    );
    const ask = (ca: string) => curl(pod, `--cacert /etc/nginx/${ca} https://localhost`);
    expect(await ask('ca.pem')).toBe('https');
    await runtime.sh(pod, `${write('c.pem', second.certificate)}nginx -s reload`);
    await eventually(() => expect(runtime.log(pod)).toContain('SSL_CTX_use_PrivateKey("k.pem") failed'));
    expect(await ask('ca.pem')).toBe('https');
    await runtime.sh(pod, `${write('k.pem', second.key)}nginx -s reload`);
    await eventually(async () => expect(await ask('c.pem')).toBe('https'));
    expect(await ask('ca.pem')).toBe('');
  });

  it('lets in whom the nearest allow and deny name', async () => {
    const pod = await start(
      main(`
      deny 127.0.0.0/8;
      server {
        listen 80;
        location / { try_files /none =204; }
        location /own { allow 127.0.0.1; deny all; try_files /none =204; }
      }`),
    );
    const status = (path: string) => curl(pod, `-o /dev/null -w '%{http_code}' localhost${path}`);
    expect(await status('/')).toBe('403');
    expect(await status('/own')).toBe('204');
  });

  it('fills the templates of /etc/nginx/templates with the environment', async () => {
    const pod = await runtime.startPod({
      name: 'templates',
      image: 'nginx',
      command: [
        'sh',
        '-c',
        "mkdir -p /etc/nginx/templates; echo 'server { listen ${PORT}; return 200 \"$uri\"; }' > /etc/nginx/templates/t.conf.template; exec /docker-entrypoint.sh nginx -g 'daemon off;'",
      ],
      container: { envs: [{ key: 'PORT', value: Buffer.from('8099') }] },
    });
    await started(pod);
    expect(await curl(pod, 'localhost:8099/x')).toBe('/x');
  });

  it('passes WebSockets on, where it is told to pass their headers', async () => {
    // An upstream that agrees and then answers line by line; it tells of the headers that have come.
    const script = `cat > /upstream.sh <<'END'
while read -r line; do case $line in Upgrade:*|upgrade:*) said=$line;; "$(printf '\\r')") break;; esac; done
printf 'HTTP/1.1 101 Switching Protocols\\r\\nConnection: upgrade\\r\\nUpgrade: websocket\\r\\n\\r\\n'
echo "$said"
while read -r line; do echo "got $line"; done
END
exec nc -lk -p 9000 -e sh /upstream.sh`;
    const upstream = await runtime.startPod({
      name: 'upstream',
      image: 'busybox',
      command: ['sh', '-c', script],
    });
    const pod = await start(
      main(`
      map $http_upgrade $connection_upgrade { default upgrade; '' close; }
      server {
        listen 80;
        location / {
          proxy_pass http://${upstream.ip}:9000;
          proxy_http_version 1.1;
          proxy_set_header Upgrade $http_upgrade;
          proxy_set_header Connection $connection_upgrade;
        }
      }`),
    );
    const listens = () => runtime.sh(upstream, 'nc -z 127.0.0.1 9000');
    await eventually(async () => expect((await listens()).exitCode).toBe(0));
    const stream = await runtime.vnet.dial({ host: pod.ip, port: 80, timeoutMs: 30_000 });
    let seen = '';
    stream.on('data', (data: Buffer) => (seen += data.toString()));
    try {
      stream.write('GET /x HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
      await eventually(() =>
        expect(seen).toMatch(/^HTTP\/1\.1 101 Switching Protocols\r\n[^]*upgrade: websocket\s*$/i),
      );
      for (const line of ['one', 'two']) {
        stream.write(`${line}\n`);
        await eventually(() => expect(seen).toContain(`got ${line}\n`));
      }
    } finally {
      stream.destroy();
    }
  });
});
