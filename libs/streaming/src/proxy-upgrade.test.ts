import { createServer, type Server, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { eventually } from '@tinkernetes/component-base/testing';
import { proxyUpgrade } from './proxy-upgrade';
import { TestServer } from './test-server';
import type { UpgradeTarget } from './types';

describe('proxyUpgrade', () => {
  let front: TestServer;
  let backend: Server;
  let target: UpgradeTarget;
  let onBackend: (socket: Socket, head: string) => void;
  const backendSockets = new Set<Socket>();
  const served: Promise<void>[] = [];

  beforeAll(async () => {
    backend = createServer({ allowHalfOpen: true }, (socket) => {
      backendSockets.add(socket);
      socket.on('error', () => socket.destroy());
      socket.once('close', () => backendSockets.delete(socket));
      let head = '';
      const read = (chunk: Buffer) => {
        head += chunk.toString('latin1');
        const end = head.indexOf('\r\n\r\n');
        if (end < 0) return;
        socket.off('data', read);
        onBackend(socket, head);
      };
      socket.on('data', read);
    });
    await new Promise<void>((resolve) => backend.listen(0, '127.0.0.1', resolve));
    front = await TestServer.start(async (upgrade) => {
      const serving = proxyUpgrade(upgrade, target);
      served.push(serving);
      await serving;
    });
  });
  beforeEach(() => {
    const { port } = backend.address() as AddressInfo;
    target = { url: new URL(`http://127.0.0.1:${port}/exec/web?command=sh`) };
  });
  afterAll(async () => {
    await front.stop();
    await Promise.all(served);
    // The proxy leaves no connection behind.
    await eventually(() => expect(backendSockets.size).toBe(0));
    await new Promise((resolve) => backend.close(resolve));
  });

  const accept =
    'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\nX-Stream-Protocol-Version: v4\r\n\r\n';
  const request =
    'GET /api HTTP/1.1\r\nHost: front\r\nConnection: Upgrade\r\nUpgrade: x\r\nAuthorization: Bearer s\r\nX-A: 1\r\nX-A: 2\r\n\r\n';
  const readAll = (socket: Socket) => {
    const seen = { text: '', ended: false };
    socket.on('data', (chunk: Buffer) => (seen.text += chunk.toString('latin1')));
    socket.on('end', () => (seen.ended = true));
    socket.on('error', () => socket.destroy());
    return seen;
  };

  it('sends the request on to the new place, with headers changed, and the answer back', async () => {
    let received = '';
    onBackend = (socket, head) => {
      received = head;
      socket.end(accept);
    };
    target = { ...target, headers: { Authorization: undefined, 'X-Remote-User': 'kubelet' } };
    const socket = front.raw();
    const seen = readAll(socket);
    socket.write(request);
    await eventually(() => expect(seen.ended).toBe(true));
    expect(received).toMatch(/^GET \/exec\/web\?command=sh HTTP\/1.1\r\n/);
    expect(received).toMatch(new RegExp(`host: ${target.url.host}`, 'i'));
    expect(received.match(/x-a: \d/gi)).toEqual(['x-a: 1', 'x-a: 2']);
    expect(received).toMatch(/x-remote-user: kubelet/i);
    expect(received).not.toMatch(/authorization/i);
    expect(seen.text).toContain('101 Switching Protocols');
    expect(seen.text).toContain('X-Stream-Protocol-Version: v4');
    socket.destroy();
  });

  it('passes bytes on that come right behind the headers, on both sides', async () => {
    onBackend = (socket) => {
      socket.write(`${accept}early answer`);
      socket.on('data', (chunk: Buffer) => socket.write(`<${chunk.toString()}>`));
      socket.on('end', () => socket.end());
    };
    const socket = front.raw();
    const seen = readAll(socket);
    socket.write(`${request}early question`);
    await eventually(() => expect(seen.text).toMatch(/early answer<early question>$/));
    socket.destroy();
  });

  it('passes an end on in one direction while the other goes on', async () => {
    onBackend = (socket) => {
      socket.write(accept);
      socket.resume();
      socket.once('end', () => {
        socket.write('after the end');
        socket.end();
      });
    };
    const socket = front.raw();
    socket.allowHalfOpen = true;
    const seen = readAll(socket);
    socket.write(request);
    await eventually(() => expect(seen.text).toContain('101'));
    socket.end();
    await eventually(() => expect(seen.ended).toBe(true));
    expect(seen.text).toMatch(/after the end$/);
  });

  it('passes megabytes on unchanged', async () => {
    const size = 4_000_000;
    onBackend = (socket) => {
      socket.write(accept);
      socket.end(Buffer.alloc(size, 'y'));
    };
    const socket = front.raw();
    const seen = readAll(socket);
    socket.write(request);
    await eventually(() => expect(seen.ended).toBe(true));
    expect(seen.text.length - seen.text.indexOf('\r\n\r\n') - 4).toBe(size);
    socket.destroy();
  });

  it('passes a refusal on as it is', async () => {
    onBackend = (socket) => socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 3\r\nX-Why: no\r\n\r\nno!');
    expect(await front.upgrade({ upgrade: 'x' })).toMatchObject({
      code: 403,
      headers: { 'x-why': 'no' },
      body: 'no!',
    });
  });

  it('answers 502 when the target can not be reached', async () => {
    target = { ...target, connect: () => Promise.reject(new Error('no route to host')) };
    expect(await front.upgrade({ upgrade: 'x' })).toMatchObject({
      code: 502,
      body: 'error dialing backend: no route to host',
    });
  });

  it('closes the target when the client breaks off, also while the target still thinks', async () => {
    for (const answered of [true, false]) {
      const closed = new Promise<void>((resolve) => {
        onBackend = (socket) => {
          socket.once('close', resolve);
          if (answered) socket.write(accept);
          socket.resume();
          socket.on('end', () => socket.end());
        };
      });
      const socket = front.raw();
      const seen = readAll(socket);
      socket.write(request);
      await eventually(() => expect(answered ? seen.text !== '' : backendSockets.size > 0).toBe(true));
      socket.destroy();
      await closed;
    }
  });
});
