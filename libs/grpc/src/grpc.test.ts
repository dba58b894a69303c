import {
  Client,
  credentials,
  Metadata,
  type sendUnaryData,
  type ServerUnaryCall,
  type ServerWritableStream,
  type ServiceError,
  type StatusObject,
} from '@grpc/grpc-js';
import { eventually } from '@tinkernetes/component-base/testing';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CallOptions } from './client-call';
import { frameOf } from './frames';
import { GrpcClient, type Method, type Reply } from './grpc-client';
import { GrpcServer, type ServerHandler } from './grpc-server';
import { ReadingServer } from './reading-server';
import type { ServerCall } from './server-call';
import { RpcError } from './status';

/** Messages are their text. */
const write = (value: object): Buffer => Buffer.from((value as { text: string }).text);
const read = (bytes: Buffer): object => {
  if (bytes.equals(Buffer.from('nonsense'))) throw new Error('not understood');
  return { text: bytes.toString() };
};
const method = (name: string, responseStream = false): Method => ({
  path: `/test.Echo/${name}`,
  requestStream: false,
  responseStream,
  requestSerialize: write,
  requestDeserialize: read,
  responseSerialize: write,
  responseDeserialize: read,
});
const say = method('Say');
const count = method('Count', true);
const binary = Buffer.from([0, 255, 7]);

describe('gRPC on a unix socket', () => {
  let dir: string;
  let endpoint: string;
  /** What has to be closed again, the newest first. */
  let open: Array<() => void>;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'tk-grpc-'));
    endpoint = `unix://${dir}/test.sock`;
    open = [];
  });
  afterEach(() => {
    for (const close of open.reverse()) close();
    rmSync(dir, { recursive: true, force: true });
  });

  function client(options: ConstructorParameters<typeof GrpcClient>[1] = {}): GrpcClient {
    const made = new GrpcClient(endpoint, options);
    open.push(() => made.close());
    return made;
  }

  async function serve(handlers: { say?: ServerHandler; count?: ServerHandler }): Promise<GrpcServer> {
    const server = new GrpcServer();
    open.push(() => server.forceShutdown());
    if (handlers.say) server.addMethod(say, handlers.say);
    if (handlers.count) server.addMethod(count, handlers.count);
    await server.listen(endpoint);
    return server;
  }

  /** A server that answers as it likes. */
  async function serveRaw(answer: (stream: ServerHttp2Stream, hangUp: () => void) => void) {
    const server = createServer();
    const sockets = new Set<Socket>();
    const hangUp = () => {
      for (const socket of sockets) socket.destroy();
    };
    server.on('connection', (socket: Socket) => sockets.add(socket));
    server.on('stream', (stream) => {
      stream.on('error', () => undefined);
      answer(stream, hangUp);
    });
    open.push(() => {
      server.close();
      hangUp();
    });
    await new Promise<void>((resolve) => server.listen(join(dir, 'test.sock'), resolve));
  }

  const ask = (text: string, options?: CallOptions, by = client()): Promise<Reply> =>
    by.unary(say, { text }, options);
  const statusOf = ({ error }: Reply) => (error instanceof RpcError ? error.status : error);

  async function collect(messages: AsyncIterable<object>): Promise<{ texts: string[]; error?: unknown }> {
    const texts: string[] = [];
    try {
      for await (const message of messages) texts.push((message as { text: string }).text);
    } catch (error) {
      return { texts, error };
    }
    return { texts };
  }

  /** Says what it hears; fails and counts when it is told to. */
  const echo: { say: ServerHandler; count: ServerHandler } = {
    say: {
      async unary(request, call) {
        const { text } = request as { text: string };
        const trailers = { 'fact-bin': call.metadata('asked-bin') ?? Buffer.from('none') };
        if (text === 'fail') throw new RpcError('NOT_FOUND', 'größe "x" ist weg', trailers);
        if (text === 'crash') throw new Error('boom');
        return { message: { text: `${text}!` }, trailers };
      },
    },
    count: {
      async *stream(request) {
        const { text } = request as { text: string };
        for (let i = 1; i <= Number.parseInt(text, 10); i++) yield { text: String(i) };
        if (text.endsWith('fail')) throw new RpcError('ABORTED', 'enough');
      },
    },
  };

  describe('between both ends', () => {
    it('brings request, answer and what is sent beside them', async () => {
      await serve(echo);
      const reply = await ask('hello', { metadata: { 'asked-bin': binary } });
      expect(reply.error).toBeUndefined();
      expect(reply.message).toEqual({ text: 'hello!' });
      expect(reply.trailers['fact-bin']).toBe(binary.toString('base64'));
    });

    it.each<[string, string, string]>([
      ['fail', 'NOT_FOUND', 'größe "x" ist weg'],
      ['crash', 'UNKNOWN', 'boom'],
      ['nonsense', 'INTERNAL', 'Error deserializing request: not understood'],
    ])('tells how %s failed', async (text, status, message) => {
      await serve(echo);
      const { error } = await ask(text);
      expect(error).toMatchObject({ status, message });
    });

    it('cuts a message that is too long for a header, and other calls go on', async () => {
      let goOn: (answer: { message: object }) => void = () => undefined;
      const tooLong = () => Promise.reject(new RpcError('NOT_FOUND', 'ö'.repeat(100_000)));
      const later = () => new Promise<{ message: object }>((resolve) => (goOn = resolve));
      const unary = (request: object) =>
        (request as { text: string }).text === 'fail' ? tooLong() : later();
      await serve({ say: { unary } });
      const by = client();
      const other = ask('hello', {}, by);
      const { error } = await ask('fail', {}, by);
      expect(error).toMatchObject({ status: 'NOT_FOUND', message: `${'ö'.repeat(4096)}…` });
      goOn({ message: { text: 'still here' } });
      expect((await other).message).toEqual({ text: 'still here' });
    });

    it('brings trailers also of a call that fails', async () => {
      await serve(echo);
      const reply = await ask('fail', { metadata: { 'asked-bin': binary } });
      expect(reply.trailers['fact-bin']).toBe(binary.toString('base64'));
    });

    it('knows no method that nobody added', async () => {
      await serve({ count: echo.count });
      expect(statusOf(await ask('hello'))).toBe('UNIMPLEMENTED');
    });

    it('streams, also what comes faster than it is read, to its end or failure', async () => {
      await serve(echo);
      const all = await collect(client().serverStream(count, { text: '1000' }));
      expect(all.texts.length).toBe(1000);
      expect(all.texts.at(-1)).toBe('1000');
      expect(all.error).toBeUndefined();
      const some = await collect(client().serverStream(count, { text: '2 and fail' }));
      expect(some.texts).toEqual(['1', '2']);
      expect(some.error).toMatchObject({ status: 'ABORTED', message: 'enough' });
    });

    it('takes messages larger than the socket, but none beyond the limit', async () => {
      await serve(echo);
      const large = 'x'.repeat(2 * 1024 * 1024);
      const { message } = await ask(large);
      expect((message as { text: string }).text.length).toBe(large.length + 1);
      expect(statusOf(await ask('x'.repeat(5 * 1024 * 1024)))).toBe('RESOURCE_EXHAUSTED');
      const careful = client({ longestMessage: 100 });
      expect(statusOf(await ask('x'.repeat(200), {}, careful))).toBe('RESOURCE_EXHAUSTED');
    });

    it('answers and is asked at the same time more than both sockets hold', async () => {
      const facts = { 'facts-bin': Buffer.alloc(3000, 7) };
      const many = 200;
      const held: Array<() => void> = [];
      let isHolding = true;
      await serve({
        say: {
          async unary(request) {
            if (isHolding) await new Promise<void>((resolve) => held.push(resolve));
            return { message: request, trailers: facts };
          },
        },
      });
      const one = client();
      const wave = (name: string) =>
        Array.from({ length: many }, (_, i) => ask(`${name}-${i}`, { metadata: facts }, one));
      const first = wave('first');
      await eventually(() => expect(held.length).toBe(many));
      isHolding = false;
      for (const now of held) now();
      const replies = await Promise.all([...first, ...wave('second')]);
      expect(replies.filter(({ error }) => !error).length).toBe(2 * many);
    });
  });

  describe('ending calls', () => {
    /** Answers nothing until nobody waits any more. */
    const never = (seen: ServerCall[]): ServerHandler => ({
      unary: (_request, call) => {
        seen.push(call);
        return new Promise((_, reject) =>
          call.signal.addEventListener('abort', () => reject(call.signal.reason as Error)),
        );
      },
    });

    it('at the deadline, at both ends', async () => {
      const seen: ServerCall[] = [];
      await serve({ say: never(seen) });
      const by = client();
      // On a busy machine the first may be too late to be seen.
      await eventually(async () => {
        expect(statusOf(await ask('late', { timeoutMs: 30 }, by))).toBe('DEADLINE_EXCEEDED');
        expect(seen.length).toBeGreaterThan(0);
      });
      await eventually(() => expect(seen.every((call) => call.signal.aborted)).toBe(true));
    });

    it('with the reason of the signal that ends one, or all', async () => {
      const seen: ServerCall[] = [];
      await serve({ say: never(seen) });
      const all = new AbortController();
      const one = new AbortController();
      const by = client({ signal: all.signal });
      const calls = [ask('one', { signal: one.signal }, by), ask('two', {}, by)];
      await eventually(() => expect(seen.length).toBe(2));
      one.abort(new Error('enough'));
      expect((await calls[0])?.error?.message).toBe('enough');
      all.abort(new Error('over'));
      expect((await calls[1])?.error?.message).toBe('over');
      await eventually(() => expect(seen.every((call) => call.signal.aborted)).toBe(true));
      expect((await ask('three', {}, by)).error?.message).toBe('over');
      expect((await collect(by.serverStream(count, { text: '' }))).error).toMatchObject({ message: 'over' });
      expect((await ask('four', { signal: one.signal })).error?.message).toBe('enough');
      expect(seen.length).toBe(2);
    });

    it('when the consumer of a stream stops', async () => {
      let isCancelled = false;
      await serve({
        count: {
          async *stream(_request, { signal }) {
            yield { text: 'first' };
            await new Promise((resolve) => signal.addEventListener('abort', resolve));
            isCancelled = true;
          },
        },
      });
      for await (const message of client().serverStream(count, { text: '' })) {
        expect(message).toEqual({ text: 'first' });
        break;
      }
      await eventually(() => expect(isCancelled).toBe(true));
    });

    it('when the server shuts down, which listens no more', async () => {
      const seen: ServerCall[] = [];
      const server = await serve({ say: never(seen) });
      const by = client();
      const asked = ask('anybody?', {}, by);
      await eventually(() => expect(seen.length).toBe(1));
      server.forceShutdown();
      expect(statusOf(await asked)).toBe('UNAVAILABLE');
      expect(statusOf(await ask('still there?', {}, by))).toBe('UNAVAILABLE');
      await eventually(() => expect(seen[0]?.signal.aborted).toBe(true));
    });

    it('when the client is closed', async () => {
      const seen: ServerCall[] = [];
      await serve({ say: never(seen) });
      const by = client();
      const asked = ask('hello', {}, by);
      await eventually(() => expect(seen.length).toBe(1));
      by.close();
      expect(statusOf(await asked)).toBe('CANCELLED');
      expect(statusOf(await ask('again', {}, by))).toBe('UNAVAILABLE');
    });
  });

  describe('connecting', () => {
    it('waits for the server when asked to, for as long as the deadline and the signal say', async () => {
      expect(statusOf(await ask('hello'))).toBe('UNAVAILABLE');
      const late = await ask('hello', { waitForReady: true, timeoutMs: 20 });
      expect(statusOf(late)).toBe('DEADLINE_EXCEEDED');
      const controller = new AbortController();
      const given = ask('hello', { waitForReady: true, signal: controller.signal });
      controller.abort(new Error('given up'));
      expect((await given).error?.message).toBe('given up');
      const waiting = ask('hello', { waitForReady: true });
      await serve(echo);
      expect((await waiting).message).toEqual({ text: 'hello!' });
    });

    it('connects again after the server has been away', async () => {
      const by = client();
      const server = await serve(echo);
      expect((await ask('one', {}, by)).message).toEqual({ text: 'one!' });
      server.forceShutdown();
      await eventually(async () => expect(statusOf(await ask('two', {}, by))).toBe('UNAVAILABLE'));
      await serve(echo);
      const again = await ask('three', { waitForReady: true }, by);
      expect(again.message).toEqual({ text: 'three!' });
    });
  });

  describe('with others', () => {
    it.each<[string, (stream: ServerHttp2Stream, hangUp: () => void) => void, string]>([
      ['another HTTP status', (s) => s.respond({ ':status': 503 }, { endStream: true }), 'UNAVAILABLE'],
      ['no status', (s) => (s.respond({ ':status': 200 }), s.end(frameOf(Buffer.from('x')))), 'INTERNAL'],
      [
        'a status but no message',
        (s) => s.respond({ ':status': 200, 'grpc-status': '0' }, { endStream: true }),
        'INTERNAL',
      ],
      [
        'a status that there is not',
        (s) => s.respond({ ':status': 200, 'grpc-status': '99' }, { endStream: true }),
        'UNKNOWN',
      ],
      ['a refusal', (s) => s.close(7), 'UNAVAILABLE'],
      [
        'a compressed message',
        (s) => (s.respond({ ':status': 200 }), s.write(Buffer.from([1, 0, 0, 0, 0]))),
        'INTERNAL',
      ],
      [
        'a message that is none',
        (s) => (s.respond({ ':status': 200 }), s.write(frameOf(Buffer.from('nonsense')))),
        'INTERNAL',
      ],
      ['an end of the connection', (_, hangUp) => hangUp(), 'UNAVAILABLE'],
    ])('understands %s', async (_, answer, status) => {
      await serveRaw(answer);
      expect(statusOf(await ask('hello'))).toBe(status);
    });

    const js = (): Client => {
      const made = new Client(endpoint, credentials.createInsecure(), {
        'grpc.default_authority': 'localhost',
      });
      open.push(() => made.close());
      return made;
    };

    it('serves grpc-js', async () => {
      await serve(echo);
      const by = js();
      const metadata = new Metadata();
      metadata.set('asked-bin', binary);
      const reply = await new Promise<{ value?: object; error: ServiceError | null; status: StatusObject }>(
        (resolve) => {
          let answer: { value?: object; error: ServiceError | null };
          by.makeUnaryRequest(say.path, write, read, { text: 'hi' }, metadata, (error, value) => {
            answer = { error, value };
          }).on('status', (status) => setImmediate(() => resolve({ ...answer, status })));
        },
      );
      expect(reply).toMatchObject({ error: null, value: { text: 'hi!' } });
      expect(reply.status.metadata.get('fact-bin')).toEqual([binary]);
      const failed = await new Promise<ServiceError | null>((resolve) => {
        by.makeUnaryRequest(say.path, write, read, { text: 'fail' }, (error) => resolve(error));
      });
      expect(failed).toMatchObject({ code: 5, details: 'größe "x" ist weg' });
      const stream = by.makeServerStreamRequest(count.path, write, read, { text: '3' });
      expect((await collect(stream as AsyncIterable<object>)).texts).toEqual(['1', '2', '3']);
    });

    it('asks grpc-js', async () => {
      const server = new ReadingServer();
      open.push(() => server.forceShutdown());
      server.addService(
        { say, count },
        {
          say: (call: ServerUnaryCall<{ text: string }, object>, done: sendUnaryData<object>) => {
            const trailer = new Metadata();
            trailer.set('fact-bin', binary);
            if (call.request.text === 'fail') done({ code: 9, details: '100 % größe', metadata: trailer });
            else done(null, { text: `${call.request.text}?` }, trailer);
          },
          count: (call: ServerWritableStream<object, object>) => {
            for (const text of ['1', '2']) call.write({ text });
            call.end();
          },
        },
      );
      await server.listen(endpoint);
      const by = client();
      const reply = await ask('hi', {}, by);
      expect(reply.message).toEqual({ text: 'hi?' });
      expect(reply.trailers['fact-bin']).toBe(binary.toString('base64').replace(/=+$/, ''));
      const { error } = await ask('fail', {}, by);
      expect(error).toMatchObject({ status: 'FAILED_PRECONDITION', message: '100 % größe' });
      expect((await collect(by.serverStream(count, { text: '' }))).texts).toEqual(['1', '2']);
    });
  });
});
