import type { Container, Pod, Probe } from '@tinkernetes/api';
import { CriError, type RuntimeClient } from '@tinkernetes/cri';
import { hostDialer, type Dialer } from '@tinkernetes/vnet';
import { createServer, type Server } from 'node:http';
import { createServer as createHttp2Server, type Http2Server } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { runProbe } from './prober';

/** As in an emulated network: the Pod's address exists only for the dialer. */
const dialerTo = (port: number): Dialer => ({
  dial: (target) => hostDialer.dial({ ...target, host: '127.0.0.1', port: target.port === 80 ? port : 1 }),
});

/** Where the server sends those who ask for a path. */
const places: Record<string, string> = {
  '/moved': '/ok?here=1',
  '/moved-to-bad': 'http://10.244.0.9:80/bad',
  '/away': 'http://example.com/',
  '/round': '/round',
};

/** What the gRPC server answers for these services. */
const failures: Record<string, { 'grpc-status': string; 'grpc-message': string }> = {
  missing: { 'grpc-status': '5', 'grpc-message': 'unknown%20service' },
  plain: { 'grpc-status': '12', 'grpc-message': 'unknown method' },
};

describe('runProbe', () => {
  let server: Server;
  let grpc: Http2Server;
  let port: number;
  let grpcPort: number;
  let served: { url?: string; headers: NodeJS.Dict<string | string[]> } = { headers: {} };

  beforeAll(async () => {
    server = createServer((request, response) => {
      served = { url: request.url, headers: request.headers };
      if (request.url === '/slow') return;
      if (request.url === '/broken') return void request.socket.destroy();
      const location = places[request.url ?? ''];
      if (location !== undefined) response.setHeader('location', location);
      response.statusCode = request.url === '/bad' ? 503 : location === undefined ? 200 : 302;
      response.end('fine');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    port = (server.address() as AddressInfo).port;
    grpc = createHttp2Server();
    grpc.on('stream', (stream) => {
      stream.once('data', (frame: Buffer) => {
        const service = frame.subarray(7).toString();
        const failure = failures[service];
        if (service === 'slow') return;
        stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
        stream.on('wantTrailers', () => stream.sendTrailers(failure ?? { 'grpc-status': '0' }));
        stream.end(failure ? undefined : Buffer.from([0, 0, 0, 0, 2, 0x08, service === 'sick' ? 2 : 1]));
      });
    });
    await new Promise<void>((resolve) => grpc.listen(0, '127.0.0.1', resolve));
    grpcPort = (grpc.address() as AddressInfo).port;
  });
  afterAll(async () => {
    server.closeAllConnections();
    await Promise.all([new Promise((r) => server.close(r)), new Promise((r) => grpc.close(r))]);
  });

  const container: Container = {
    name: 'c',
    ports: [{ name: 'web', containerPort: 80 }],
    env: [{ name: 'F', value: '/ok' }],
  };
  const pod: Pod = { metadata: { name: 'p' }, spec: { containers: [container] } };
  const probe = (spec: Probe, { to = port, runtime = {} as RuntimeClient } = {}) =>
    runProbe(
      spec,
      { pod, container, containerId: 'id', podIP: '10.244.0.9' },
      { runtime, dialer: dialerTo(to), userAgent: 'kube-probe/1.36' },
    );

  it('asks the pod by a named port, with headers of its own', async () => {
    const httpGet = { port: 'web', path: '/health', httpHeaders: [{ name: 'X-A', value: '1' }] };
    expect(await probe({ httpGet })).toEqual({ result: 'success', output: 'fine' });
    expect(served.url).toBe('/health');
    expect(served.headers).toMatchObject({
      host: '10.244.0.9:80',
      'user-agent': 'kube-probe/1.36',
      'x-a': '1',
    });
  });

  it.each([
    ['/moved', 'success', 'fine'],
    ['/moved-to-bad', 'failure', 'HTTP probe failed with statuscode: 503'],
    ['/round', 'failure', 'Get "http://10.244.0.9:80/round": stopped after 10 redirects'],
    ['/broken', 'failure', 'Get "http://10.244.0.9:80/broken": EOF'],
    ['/bad', 'failure', 'HTTP probe failed with statuscode: 503'],
    [
      '/slow',
      'failure',
      'Get "http://10.244.0.9:80/slow": context deadline exceeded (Client.Timeout exceeded while awaiting headers)',
    ],
  ])('judges %s as %s', async (path, result, output) => {
    expect(await probe({ httpGet: { port: 80, path } })).toEqual({ result, output });
  });

  it('takes a redirect to another host for a success, and warns', async () => {
    expect(await probe({ httpGet: { port: 80, path: '/away' } })).toEqual({
      result: 'success',
      output: 'Probe terminated redirects, Response body: fine',
      warning: true,
    });
  });

  it('says that a server speaks no TLS', async () => {
    expect(await probe({ httpGet: { port: 80, path: '/ok', scheme: 'HTTPS' } })).toEqual({
      result: 'failure',
      output: 'Get "https://10.244.0.9:80/ok": http: server gave HTTP response to HTTPS client',
    });
  });

  it('cannot ask a port that the container does not name', async () => {
    await expect(async () => probe({ httpGet: { port: 'admin' } })).rejects.toThrow(
      'strconv.Atoi: parsing "admin": invalid syntax',
    );
  });

  it('tells a refused connection in the words that users know', async () => {
    expect(await probe({ httpGet: { port: 81 } })).toEqual({
      result: 'failure',
      output: 'Get "http://10.244.0.9:81/": dial tcp 10.244.0.9:81: connect: connection refused',
    });
    expect(await probe({ tcpSocket: { port: 81 } })).toEqual({
      result: 'failure',
      output: 'dial tcp 10.244.0.9:81: connect: connection refused',
    });
    expect((await probe({ tcpSocket: { port: 80 } })).result).toBe('success');
  });

  it.each([
    [undefined, 'success', 'service healthy'],
    ['sick', 'failure', 'service unhealthy (responded with "NOT_SERVING")'],
    [
      'missing',
      'failure',
      'error: health rpc probe failed: rpc error: code = NotFound desc = unknown service',
    ],
    [
      'plain',
      'failure',
      'error: this server does not implement the grpc health protocol (grpc.health.v1.Health): unknown method',
    ],
    ['slow', 'failure', 'timeout: health rpc did not complete within 1s'],
  ])('asks the gRPC health service for %s', async (service, result, output) => {
    expect(await probe({ grpc: { port: 80, service } }, { to: grpcPort })).toEqual({ result, output });
  });

  it('cannot connect to a gRPC service that is not there', async () => {
    expect(await probe({ grpc: { port: 81 } })).toEqual({
      result: 'failure',
      output: 'timeout: failed to connect service "10.244.0.9:81" within 1s: context deadline exceeded',
    });
  });

  it('runs a command, with the container’s variables in it', async () => {
    const commands: (readonly string[] | undefined)[] = [];
    const runtime = {
      execSync: ({ cmd }: { cmd?: readonly string[] }) => {
        commands.push(cmd);
        return Promise.resolve({
          exitCode: cmd?.[1] === '/ok' ? 0 : 1,
          stdout: Buffer.from('out'),
          stderr: Buffer.from('err'),
        });
      },
    } as unknown as RuntimeClient;
    expect(await probe({ exec: { command: ['cat', '$(F)'] } }, { runtime })).toEqual({
      result: 'success',
      output: 'outerr',
    });
    expect((await probe({ exec: { command: ['cat', '/no'] } }, { runtime })).result).toBe('failure');
    expect(commands[0]).toEqual(['cat', '/ok']);
  });

  it('counts a command that takes too long as failed, one that can’t be run as unknown', async () => {
    const failing = (error: Error) => ({ execSync: () => Promise.reject(error) }) as unknown as RuntimeClient;
    const late = await probe(
      { exec: { command: ['x'] } },
      { runtime: failing(new CriError('DEADLINE_EXCEEDED', 'late')) },
    );
    expect(late).toEqual({ result: 'failure', output: 'command timed out: "x" timed out after 1s' });
    const broken = await probe(
      { exec: { command: ['x'] } },
      { runtime: failing(new CriError('UNAVAILABLE', 'gone')) },
    );
    expect(broken.result).toBe('unknown');
  });
});
