import { hostDialer } from '@tinkernetes/vnet';
import { createServer, type Http2Server, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { grpcHealth } from './grpc-health';

describe('asking for the health of a gRPC server', () => {
  let server: Http2Server;
  let answer: (stream: ServerHttp2Stream, body: Buffer) => void;
  const sockets = new Set<Socket>();

  beforeAll(async () => {
    server = createServer();
    server.on('connection', (socket: Socket) => sockets.add(socket));
    server.on('stream', (stream) => {
      const chunks: Buffer[] = [];
      stream.on('error', () => undefined);
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => answer(stream, Buffer.concat(chunks)));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterAll(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });

  const ask = (service = '') => {
    const { port } = server.address() as AddressInfo;
    return grpcHealth(hostDialer, { host: '127.0.0.1', port, service, timeoutMs: 60_000 });
  };

  it.each([
    ['gone%20away', 'gone away'],
    ['100% full', '100% full'],
  ])('tells what the server says, also where it does not encode it: %s', async (sent, told) => {
    answer = (stream) =>
      stream.respond({ ':status': 200, 'grpc-status': '5', 'grpc-message': sent }, { endStream: true });
    await expect(ask()).rejects.toMatchObject({ code: 'NotFound', description: told });
  });

  it.each([1, 127, 128, 300])('asks for a service of %d letters', async (length) => {
    let asked: Buffer = Buffer.alloc(0);
    answer = (stream, body) => {
      asked = body;
      stream.respond({ ':status': 200 }, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
      stream.end(Buffer.from([0, 0, 0, 0, 2, 0x08, 1]));
    };
    expect(await ask('s'.repeat(length))).toBe('SERVING');
    const head = length < 128 ? [0x0a, length] : [0x0a, 0x80 | (length % 128), length >> 7];
    expect(asked.subarray(5)).toEqual(Buffer.concat([Buffer.from(head), Buffer.from('s'.repeat(length))]));
    expect(asked.readUInt32BE(1)).toBe(asked.length - 5);
  });
});
