import type { Container, LifecycleHandler } from '@tinkernetes/api';
import { VirtualClock } from '@tinkernetes/component-base/testing';
import type { RuntimeClient } from '@tinkernetes/cri';
import { hostDialer } from '@tinkernetes/vnet';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { runHook } from './lifecycle-hooks';

const container: Container = { name: 'c', ports: [{ name: 'web', containerPort: 80 }] };
const pod = { metadata: { name: 'p', namespace: 'n', uid: 'u' }, spec: { containers: [container] } };

describe('runHook', () => {
  let server: Server;
  const asked: (string | undefined)[] = [];

  beforeAll(async () => {
    server = createServer((request, response) => {
      asked.push(request.url);
      response.statusCode = 500;
      response.end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterAll(() => new Promise((resolve) => server.close(resolve)));

  /** Port 80 of the Pod is the server; nothing listens on others. */
  const hook = (handler: LifecycleHandler, runtime: Partial<RuntimeClient> = {}) => {
    const { port } = server.address() as AddressInfo;
    return runHook(
      handler,
      { pod, container, containerId: 'id', podIP: '10.244.0.9' },
      {
        runtime: runtime as RuntimeClient,
        dialer: {
          dial: (at) => hostDialer.dial({ ...at, host: '127.0.0.1', port: at.port === 80 ? port : 1 }),
        },
        clock: new VirtualClock(),
        userAgent: 'kube-lifecycle/1.36',
      },
    );
  };

  it('fails with what the command said and ended with', async () => {
    const execSync: RuntimeClient['execSync'] = () =>
      Promise.resolve({ exitCode: 3, stdout: Buffer.from('out\n'), stderr: Buffer.from('err\n') });
    await expect(hook({ exec: { command: ['sh', '-c', 'exit 3'] } }, { execSync })).rejects.toThrow(
      `Exec lifecycle hook ([sh -c exit 3]) for Container "c" in Pod "p_n(u)" failed - error: command 'sh -c exit 3' exited with 3: err\n, message: "out\\nerr\\n"`,
    );
  });

  it.each([
    ['a named port', { port: 'web', path: 'ready' }, '/ready'],
    ['port 80 where none is named', { port: '', path: '/here' }, '/here'],
    ['a server without TLS', { port: 80, path: '/plain', scheme: 'HTTPS' as const }, '/plain'],
  ])('asks %s, and is content with any answer', async (_, httpGet, path) => {
    await hook({ httpGet });
    expect(asked.at(-1)).toBe(path);
  });

  it.each([
    [81, 'Get "http://10.244.0.9:81/x": dial tcp 10.244.0.9:81: connect: connection refused'],
    ['admin', "couldn't find port: admin"],
  ])('fails where it cannot ask port %s', async (port, message) => {
    await expect(hook({ httpGet: { port, path: '/x' } })).rejects.toThrow(
      `HTTP lifecycle hook (/x) for Container "c" in Pod "p_n(u)" failed - error: ${message}`,
    );
  });
});
