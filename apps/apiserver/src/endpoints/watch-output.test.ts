import { createServer, type Server, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { PendingFrames } from './pending-frames';
import { WatchOutput } from './watch-output';

const chunkOf = (text: string) => {
  const pending = new PendingFrames();
  pending.push(Buffer.from(text));
  return pending.take();
};

describe('WatchOutput', () => {
  let server: Server;
  let client: Socket | undefined;
  let answer: (response: ServerResponse) => void;
  beforeAll(async () => {
    server = createServer((_, response) => answer(response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterEach(() => client?.destroy());
  afterAll(() => new Promise<void>((resolve) => server.close(() => resolve())));

  /** What a client reads until `last`. */
  function ask(text: string, last: string): Promise<string> {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    client = socket;
    return new Promise((resolve, reject) => {
      let read = '';
      socket.setEncoding('latin1').on('data', (part: string) => {
        read += part;
        if (read.endsWith(last)) resolve(read);
      });
      socket.on('error', reject).on('close', () => resolve(read));
      socket.write(text);
    });
  }

  const send = (response: ServerResponse, ...texts: string[]) => {
    const output = new WatchOutput(response, () => undefined);
    response.sendDate = false;
    response.writeHead(200).flushHeaders();
    output.open();
    for (const text of texts) output.write(chunkOf(text));
    return output;
  };

  it('writes chunks between what Node writes of the answer, and leaves the connection to the next request', async () => {
    const listeners: number[] = [];
    answer = (response) => {
      const { socket } = response;
      const output = send(response, 'one\n', 'two\n');
      listeners.push(socket?.listenerCount('drain') ?? 0);
      output.end(Buffer.from('rest\n'));
    };
    const get = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
    const body = '4\r\none\n\r\n4\r\ntwo\n\r\n5\r\nrest\n\r\n0\r\n\r\n';
    const read = await ask(get, body);
    expect(read).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(read).toContain('Transfer-Encoding: chunked\r\n');
    expect(read.endsWith(`\r\n\r\n${body}`)).toBe(true);
    const again = new Promise<string>((resolve) => client?.once('data', (part: string) => resolve(part)));
    client?.write(get);
    expect(await again).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(listeners[1]).toBe(listeners[0]);
  });

  it('sends the content alone to a client of HTTP/1.0, which knows no chunks', async () => {
    answer = (response) => send(response, 'one\n', 'two\n').end(Buffer.from('rest\n'));
    const read = await ask('GET / HTTP/1.0\r\n\r\n', 'none');
    expect(read.endsWith('\r\n\r\none\ntwo\nrest\n')).toBe(true);
  });

  it('says when the socket has room again', async () => {
    const drained = new Promise<void>((resolve) => {
      answer = (response) => {
        const output = new WatchOutput(response, () => {
          expect(output.needsDrain).toBe(false);
          output.end(Buffer.from('end'));
          resolve();
        });
        response.writeHead(200).flushHeaders();
        output.open();
        while (!output.needsDrain) output.write(chunkOf('x'.repeat(64 * 1024)));
      };
    });
    const read = ask('GET / HTTP/1.1\r\nHost: a\r\n\r\n', '3\r\nend\r\n0\r\n\r\n');
    await drained;
    expect((await read).length).toBeGreaterThan(64 * 1024);
  });
});
