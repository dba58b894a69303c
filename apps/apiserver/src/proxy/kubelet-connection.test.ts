import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import type { ServerDependencies } from '../contracts';
import { KubeletConnections } from './kubelet-connection';

describe('connections through kubelets', () => {
  const sockets = new Set<Socket>();
  const ended = new AbortController();
  let server: Server;
  let kubelets: KubeletConnections;

  /** Takes connections and never says a word. */
  beforeAll(async () => {
    server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => sockets.delete(socket));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
    const { port: Port } = server.address() as AddressInfo;
    const node = {
      status: {
        addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
        daemonEndpoints: { kubeletEndpoint: { Port } },
      },
    };
    kubelets = new KubeletConnections({
      options: { hostAliases: [] },
      context: { signal: ended.signal },
      stores: { for: () => ({ get: () => Promise.resolve(node) }) },
    } as unknown as ServerDependencies);
  });
  afterAll(async () => {
    ended.abort();
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });

  it('are given up with the signal when a kubelet never answers', async () => {
    const cancel = new AbortController();
    const begun = new Promise((resolve) => server.once('connection', resolve));
    const dialled = kubelets.dial('node-1', { host: '10.0.0.1', port: 80, signal: cancel.signal });
    await begun;
    cancel.abort(new Error('context deadline exceeded'));
    await expect(dialled).rejects.toMatchObject({ reason: 'ServiceUnavailable' });
  });

  it('are not begun for a signal that has aborted, and stay when it aborts later', async () => {
    const { port } = server.address() as AddressInfo;
    const host = '127.0.0.1';
    await expect(
      kubelets.dialHost({ host, port, signal: AbortSignal.abort(new Error('too late')) }),
    ).rejects.toThrow('too late');
    const cancel = new AbortController();
    const socket = await kubelets.dialHost({ host, port, signal: cancel.signal });
    cancel.abort(new Error('over'));
    expect(socket.destroyed).toBe(false);
    socket.destroy();
  });
});
