import { Client, credentials, Metadata, type Server } from '@grpc/grpc-js';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ReadingServer } from './reading-server';

const same = (bytes: Buffer): Buffer => bytes;
const echo = {
  path: '/test.Echo/Say',
  requestStream: false,
  responseStream: false,
  requestSerialize: same,
  requestDeserialize: same,
  responseSerialize: same,
  responseDeserialize: same,
};
type Answer = (error: null, value: Buffer, trailer: Metadata) => void;

/** Flow control is for messages only: what is said beside them fills the socket. */
function facts(): Metadata {
  const metadata = new Metadata();
  metadata.set('facts-bin', randomBytes(3000));
  return metadata;
}

describe('ReadingServer', () => {
  let dir: string;
  beforeEach(() => (dir = mkdtempSync(join(tmpdir(), 'tk-grpc-'))));
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  interface Parts {
    client: Client;
    server: Server;
    say(text: string): Promise<string>;
  }

  async function withServer(
    answer: (request: Buffer, done: Answer) => void,
    work: (parts: Parts) => Promise<void>,
  ): Promise<void> {
    const endpoint = `unix://${dir}/test.sock`;
    const server = new ReadingServer();
    server.addService(
      { say: echo },
      { say: (call: { request: Buffer }, done: Answer) => answer(call.request, done) },
    );
    await server.listen(endpoint);
    const client = new Client(endpoint, credentials.createInsecure());
    const say = (text: string) =>
      new Promise<string>((resolve, reject) => {
        client.makeUnaryRequest(echo.path, same, same, Buffer.from(text), facts(), (error, value) =>
          error ? reject(error) : resolve(String(value)),
        );
      });
    try {
      await work({ client, server, say });
    } finally {
      client.close();
      server.forceShutdown();
    }
  }

  it('answers and is asked at the same time more than both sockets hold', async () => {
    const count = 200;
    const held: Array<() => void> = [];
    let allHere: () => void = () => undefined;
    const arrived = new Promise<void>((resolve) => (allHere = resolve));
    let holding = true;
    const answer = (request: Buffer, done: Answer) => {
      const now = () => done(null, request, facts());
      if (!holding) return now();
      if (held.push(now) === count) allHere();
    };
    await withServer(answer, async ({ say }) => {
      const wave = (name: string) => Array.from({ length: count }, (_, i) => say(`${name}-${i}`));
      const first = wave('first');
      await arrived;
      holding = false;
      for (const now of held) now();
      const answers = await Promise.all([...first, ...wave('second')]);
      expect(answers.filter((text) => text.startsWith('second')).length).toBe(count);
    });
  });

  it('takes a message larger than the socket, and answers with it', async () => {
    const answer = (request: Buffer, done: Answer) => done(null, request, new Metadata());
    const text = 'x'.repeat(2 * 1024 * 1024);
    await withServer(answer, async ({ say }) => {
      expect((await say(text)) === text).toBe(true);
    });
  });

  it('ends calls with the shutdown, and listens no more', async () => {
    const answer = () => undefined;
    await withServer(answer, async ({ say, server }) => {
      const asked = say('anybody?');
      setTimeout(() => server.forceShutdown(), 50);
      await expect(asked).rejects.toThrow();
      await expect(say('still there?')).rejects.toThrow('UNAVAILABLE');
    });
  });
});
