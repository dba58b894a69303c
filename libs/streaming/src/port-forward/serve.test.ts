import { Duplex } from 'node:stream';
import { eventually } from '@tinkernetes/component-base/testing';
import { SpdyTestClient } from '../spdy/test-client';
import { TestServer } from '../test-server';
import type { PortForwardHandler } from '../types';
import { servePortForward } from './serve';

/** The bytes of short, masked WebSocket messages over a raw connection: the `ws` client refuses such protocol names. */
function tunnel(socket: Duplex): Duplex {
  let pending = Buffer.alloc(0);
  const stream = new Duplex({
    read() {},
    write(chunk: Buffer, _encoding, callback) {
      const head =
        chunk.length < 126
          ? [0x82, 0x80 | chunk.length]
          : [0x82, 0x80 | 126, chunk.length >> 8, chunk.length & 255];
      // A mask of zeros changes nothing.
      socket.write(Buffer.concat([Buffer.from([...head, 0, 0, 0, 0]), chunk]), callback);
    },
    destroy(error, callback) {
      socket.destroy();
      callback(error);
    },
  });
  socket.on('data', (chunk: Buffer) => {
    pending = Buffer.concat([pending, chunk]);
    for (;;) {
      if (pending.length < 4) return;
      const short = pending.readUInt8(1);
      const start = short < 126 ? 2 : 4;
      const end = start + (short < 126 ? short : pending.readUInt16BE(2));
      if (pending.length < end) return;
      stream.push(pending.subarray(start, end));
      pending = pending.subarray(end);
    }
  });
  return stream;
}

describe('servePortForward', () => {
  let server: TestServer;
  const served: Promise<void>[] = [];

  /** An echo server on every port but 81, where nobody listens. */
  const echo: PortForwardHandler = async ({ port, stream }) => {
    if (port === 81) throw new Error('connect: connection refused');
    stream.write(`${port}:`);
    stream.pipe(stream);
    await new Promise((resolve) => stream.once('end', resolve));
  };
  beforeAll(async () => {
    server = await TestServer.start(async (upgrade) => {
      const serving = servePortForward(upgrade, echo, { ports: [80, 81] });
      served.push(serving);
      await serving;
    });
  });
  afterAll(async () => {
    await server.stop();
    await Promise.all(served);
  });

  const connect = async (client: SpdyTestClient, port: number, requestid: string) => {
    const error = await client.open({ streamtype: 'error', port: String(port), requestid });
    client.write(error, '', true);
    const data = await client.open({ streamtype: 'data', port: String(port), requestid });
    return { error, data };
  };

  it('joins streams by request, many connections over one', async () => {
    const client = await server.spdy('portforward.k8s.io');
    const a = await connect(client, 80, '0');
    const b = await connect(client, 8080, '1');
    client.write(a.data, 'hello');
    client.write(b.data, 'world');
    await eventually(() =>
      expect([client.text(a.data), client.text(b.data)]).toEqual(['80:hello', '8080:world']),
    );
    client.write(a.data, '', true);
    await eventually(() => expect(client.hasFinished(a.data) && client.hasFinished(a.error)).toBe(true));
    expect(client.hasFinished(b.data)).toBe(false);
    client.close();
  });

  it('tells on the error stream why a connection failed, and serves on', async () => {
    const client = await server.spdy('portforward.k8s.io');
    const refused = await connect(client, 81, '0');
    await eventually(() => expect(client.hasFinished(refused.error)).toBe(true));
    expect(client.text(refused.error)).toBe('connect: connection refused');
    const { data } = await connect(client, 80, '1');
    await eventually(() => expect(client.text(data)).toBe('80:'));
    client.close();
  });

  it('speaks SPDY tunnelled in WebSocket messages, as newer clients do', async () => {
    const { socket, headers } = await server.upgrade({
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': Buffer.alloc(16).toString('base64'),
      'sec-websocket-protocol': 'SPDY/3.1+portforward.k8s.io',
    });
    expect(headers).toMatchObject({ 'sec-websocket-protocol': 'SPDY/3.1+portforward.k8s.io' });
    if (!socket) throw new Error('not upgraded');
    const client = new SpdyTestClient(tunnel(socket));
    const { data } = await connect(client, 80, '0');
    client.write(data, 'x'.repeat(100));
    await eventually(() => expect(client.text(data)).toBe(`80:${'x'.repeat(100)}`));
    client.close();
  });

  it('carries plain WebSocket channels, each beginning with its port', async () => {
    const socket = server.webSocket(['v4.channel.k8s.io']);
    const channels = new Map<number, Buffer>();
    socket.on('message', (data: Buffer) => {
      const id = data.readUInt8(0);
      channels.set(id, Buffer.concat([channels.get(id) ?? Buffer.alloc(0), data.subarray(1)]));
    });
    await new Promise((resolve) => socket.once('open', resolve));
    socket.send(Buffer.from('\0hi'));
    const port = (n: number, text: string) => Buffer.concat([Buffer.from([n, 0]), Buffer.from(text)]);
    await eventually(() => expect(channels.get(0)).toEqual(port(80, '80:hi')));
    expect(channels.get(1)).toEqual(port(80, ''));
    expect(channels.get(3)?.toString()).toContain('connection refused');
    socket.close();
  });

  it('refuses protocols that it does not speak', async () => {
    expect((await server.upgrade({ upgrade: 'SPDY/3.1', 'x-stream-protocol-version': 'x' })).code).toBe(403);
    expect((await server.upgrade({ upgrade: 'h2c' })).code).toBe(400);
  });
});
