import type { WebSocket } from 'ws';
import { eventually } from '@tinkernetes/component-base/testing';
import { TestServer } from '../test-server';
import type { RemoteCommandHandler, RemoteCommandOptions, TerminalSize } from '../types';
import { serveRemoteCommand } from './serve';

const all: RemoteCommandOptions = { stdin: true, stdout: true, stderr: true, tty: false };
const success = { metadata: {}, status: 'Success' };

describe('serveRemoteCommand', () => {
  let server: TestServer;
  let options: RemoteCommandOptions;
  let handler: RemoteCommandHandler;
  const served: Promise<void>[] = [];

  beforeAll(async () => {
    server = await TestServer.start(async (upgrade) => {
      const serving = serveRemoteCommand(upgrade, options, (streams) => handler(streams));
      served.push(serving);
      await serving;
    });
  });
  afterAll(async () => {
    await server.stop();
    // Each of them ends with its connection.
    await Promise.all(served);
  });
  beforeEach(() => {
    options = all;
    handler = cat;
  });

  /** Copies its input to its output, tells how much it was on its error output, and fails with 3 on `fail`. */
  const cat: RemoteCommandHandler = async ({ stdin, stdout, stderr }) => {
    let text = '';
    if (stdin) for await (const chunk of stdin) text += String(chunk);
    stdout?.write(text);
    stderr?.write(`${text.length} bytes`);
    return { exitCode: text === 'fail' ? 3 : 0 };
  };

  const collect = (socket: WebSocket) => {
    const channels = new Map<number, string>();
    socket.on('message', (data: Buffer, isBinary) => {
      const channel = isBinary ? data.readUInt8(0) : Number(String.fromCharCode(data.readUInt8(0)));
      const text = isBinary
        ? data.subarray(1).toString()
        : Buffer.from(data.subarray(1).toString(), 'base64').toString();
      channels.set(channel, (channels.get(channel) ?? '') + text);
    });
    const closed = new Promise<number>((resolve) => socket.once('close', resolve));
    return { channels, closed };
  };
  const opened = (socket: WebSocket) => new Promise((resolve) => socket.once('open', resolve));

  it('speaks v5 over WebSocket: input can be closed by itself', async () => {
    const socket = server.webSocket(['v5.channel.k8s.io', 'v4.channel.k8s.io']);
    const { channels, closed } = collect(socket);
    await opened(socket);
    expect(socket.protocol).toBe('v5.channel.k8s.io');
    socket.send(Buffer.from('\0hello '));
    socket.send(Buffer.from('\0world'));
    socket.send(Buffer.from([255, 0]));
    expect(await closed).toBe(1000);
    expect(channels.get(1)).toBe('hello world');
    expect(channels.get(2)).toBe('11 bytes');
    expect(JSON.parse(channels.get(3) ?? '')).toEqual(success);
  });

  it('speaks base64 for clients that can only send text', async () => {
    options = { ...all, stdin: false };
    const socket = server.webSocket(['v4.base64.channel.k8s.io']);
    const { channels, closed } = collect(socket);
    await closed;
    expect(channels.get(2)).toBe('0 bytes');
    expect(JSON.parse(channels.get(3) ?? '')).toEqual(success);
  });

  it('tells the exit code as upstream does', async () => {
    const socket = server.webSocket(['v5.channel.k8s.io']);
    const { channels, closed } = collect(socket);
    await opened(socket);
    socket.send(Buffer.from('\0fail'));
    socket.send(Buffer.from([255, 0]));
    await closed;
    expect(JSON.parse(channels.get(3) ?? '')).toEqual({
      metadata: {},
      status: 'Failure',
      message: 'command terminated with non-zero exit code: exit status 3',
      reason: 'NonZeroExitCode',
      details: { causes: [{ reason: 'ExitCode', message: '3' }] },
    });
  });

  it('tells a command that could not be run as an internal error', async () => {
    handler = () => Promise.reject(new Error('no such container'));
    const socket = server.webSocket(['v4.channel.k8s.io']);
    const { channels, closed } = collect(socket);
    await closed;
    expect(JSON.parse(channels.get(3) ?? '')).toMatchObject({
      reason: 'InternalError',
      message: 'Internal error occurred: no such container',
    });
  });

  it('writes plain text for clients older than v4', async () => {
    handler = () => Promise.resolve({ exitCode: 1 });
    const socket = server.webSocket(['channel.k8s.io']);
    const { channels, closed } = collect(socket);
    await closed;
    expect(channels.get(3)).toBe('command terminated with non-zero exit code: exit status 1');
  });

  it('passes terminal sizes on, the first even to a late listener, and has no stderr with a terminal', async () => {
    options = { ...all, tty: true };
    const sizes: TerminalSize[] = [];
    let hasStderr = true;
    handler = async ({ stdin, stderr, onResize }) => {
      hasStderr = stderr !== undefined;
      for await (const chunk of stdin ?? []) if (String(chunk) === 'q') break;
      onResize((size) => sizes.push(size));
      return { exitCode: 0 };
    };
    const socket = server.webSocket(['v4.channel.k8s.io']);
    const { closed } = collect(socket);
    await opened(socket);
    socket.send(Buffer.from('\x04{"Width":80,"Height":24}\n{"Width":1'));
    socket.send(Buffer.from('\x0400,"Height":30}\n'));
    socket.send(Buffer.from('\0q'));
    await closed;
    expect(sizes).toEqual([{ width: 100, height: 30 }]);
    expect(hasStderr).toBe(false);
  });

  it('tells the command that the client has gone', async () => {
    const gone = new Promise<void>((resolve) => {
      handler = ({ signal }) =>
        new Promise((finish) =>
          signal.addEventListener('abort', () => {
            resolve();
            finish({ exitCode: 137 });
          }),
        );
    });
    const socket = server.webSocket(['v5.channel.k8s.io']);
    await opened(socket);
    socket.terminate();
    await gone;
  });

  it('speaks SPDY as kubectl up to 1.28 does', async () => {
    const client = await server.spdy('v4.channel.k8s.io, v3.channel.k8s.io');
    const ids: Record<string, number> = {};
    for (const type of ['error', 'stdin', 'stdout', 'stderr'])
      ids[type] = await client.open({ streamtype: type });
    const { error = 0, stdin = 0, stdout = 0, stderr = 0 } = ids;
    client.ping(1);
    client.write(stdin, 'hello');
    client.write(stdin, '', true);
    await client.closed;
    expect(client.replies).toEqual([error, stdin, stdout, stderr]);
    expect([client.text(stdout), client.text(stderr)]).toEqual(['hello', '5 bytes']);
    expect(JSON.parse(client.text(error))).toEqual(success);
    expect([stdout, stderr, error].every((id) => client.hasFinished(id))).toBe(true);
    expect([client.goneAway, client.pings]).toEqual([true, 1]);
  });

  it('passes megabytes through SPDY without window updates', async () => {
    const size = 3_000_000;
    options = { ...all, stderr: false };
    const client = await server.spdy('v4.channel.k8s.io');
    await client.open({ streamtype: 'error' });
    const stdin = await client.open({ streamtype: 'stdin' });
    const stdout = await client.open({ streamtype: 'stdout' });
    for (let sent = 0; sent < size; sent += 30_000) client.write(stdin, Buffer.alloc(30_000, 'x'));
    client.write(stdin, '', true);
    await client.closed;
    expect(client.text(stdout)).toHaveLength(size);
  });

  it('tells the command over SPDY too that the client has gone', async () => {
    const told = new Promise<void>((resolve) => {
      handler = async ({ signal }) => {
        signal.addEventListener('abort', () => resolve());
        await told;
        return { exitCode: 0 };
      };
    });
    options = { ...all, stdin: false, stderr: false };
    const client = await server.spdy('v4.channel.k8s.io');
    await client.open({ streamtype: 'error' });
    await client.open({ streamtype: 'stdout' });
    await eventually(() => expect(client.replies).toHaveLength(2));
    client.close();
    await told;
  });

  it.each<[string, Record<string, string>, number]>([
    ['a protocol that nobody speaks', { upgrade: 'SPDY/3.1', 'x-stream-protocol-version': 'v9' }, 403],
    ['another upgrade', { upgrade: 'h2c' }, 400],
  ])('refuses %s', async (_, headers, code) => {
    expect((await server.upgrade(headers)).code).toBe(code);
  });

  it('refuses a request for no stream at all', async () => {
    options = { stdin: false, stdout: false, stderr: false, tty: false };
    expect(await server.upgrade({ upgrade: 'SPDY/3.1' })).toMatchObject({
      code: 400,
      body: 'you must specify at least 1 of stdin, stdout, stderr',
    });
  });
});
