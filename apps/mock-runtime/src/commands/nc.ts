import type { Duplex } from 'node:stream';
import { errorCode } from '../error-code';
import type { Process } from '../kernel/process';
import type { TcpConnection } from '../network/net-namespace';
import { resolveHost, ResolveError } from '../net/resolver';
import { parseArgs } from './paths';
import { spawn } from '../kernel/spawn';
import { OpenFile } from '../kernel/open-file';

/** `nc [-zvw SEC] HOST PORT`, `nc -l[k] -p PORT [-e PROGRAM…]`. */
export async function nc(process: Process): Promise<number> {
  const args = process.argv.slice(1);
  const run = args.findIndex((arg) => arg === '-e' || arg === '-lke' || arg === '-le');
  const program = run >= 0 ? args.slice(run + 1) : [];
  const { flags, values, rest } = parseArgs(
    run >= 0
      ? args
          .slice(0, run + 1)
          .map((a) => a.replace(/e$/, ''))
          .filter((a) => a !== '-')
      : args,
    'pw',
  );
  if (flags.has('l'))
    return listen(process, Number(values.get('p') ?? rest.at(-1)), { keep: flags.has('k'), program });
  const [host = '', port = ''] = rest;
  const timeoutMs = values.has('w') ? Number(values.get('w')) * 1000 : undefined;
  try {
    const address = await resolveHost(process, host);
    const { stream } = await process.net.connect({
      host: address,
      port: Number(port),
      signal: process.signal,
      timeoutMs,
    });
    if (flags.has('v')) await process.complain(`${host} (${address}:${port}) open\n`);
    if (flags.has('z')) {
      stream.destroy();
      return 0;
    }
    await converse(process, stream);
    return 0;
  } catch (error) {
    process.signal.throwIfAborted();
    if (error instanceof ResolveError) await process.complain(`nc: bad address '${host}'\n`);
    else if (flags.has('v') || !flags.has('z'))
      await process.complain(`nc: ${host} (${host}:${port}): ${ncMessage(error)}\n`);
    return 1;
  }
}

function ncMessage(error: unknown): string {
  const texts: Record<string, string> = {
    ECONNREFUSED: 'Connection refused',
    EHOSTUNREACH: 'No route to host',
    ETIMEDOUT: 'Operation timed out',
    ECONNRESET: 'Connection reset by peer',
  };
  return texts[errorCode(error) ?? ''] ?? String(error);
}

async function listen(
  process: Process,
  port: number,
  { keep, program }: { keep: boolean; program: readonly string[] },
): Promise<number> {
  const waiting: TcpConnection[] = [];
  let wake: () => void = () => undefined;
  const listener = process.net.listen({ port }, (connection) => {
    connection.stream.on('error', () => connection.stream.destroy());
    waiting.push(connection);
    wake();
  });
  process.signal.addEventListener('abort', () => listener.close(), { once: true });
  try {
    do {
      while (waiting.length === 0)
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      const connection = waiting.shift();
      if (!connection) continue;
      if (program.length > 0) await serve(process, connection.stream, program);
      else await converse(process, connection.stream);
    } while (keep);
    return 0;
  } finally {
    listener.close();
  }
}

async function serve(process: Process, stream: Duplex, program: readonly string[]): Promise<void> {
  const file = socketFile(stream);
  const files = new Map([...process.files]).set(0, file).set(1, file);
  const child = await spawn.start(process, program, { files });
  file.release();
  await child.exited;
  stream.end();
}

function socketFile(stream: Duplex): OpenFile {
  const chunks = stream.iterator({ destroyOnReturn: false });
  return new OpenFile({
    path: 'socket:',
    read: async () => {
      const { value, done } = await chunks.next();
      return done ? undefined : Buffer.from(value as Buffer);
    },
    write: (data) =>
      new Promise<void>((resolve, reject) =>
        stream.write(data, (error) => (error ? reject(error) : resolve())),
      ),
    close: () => void stream.end(),
  });
}

async function converse(process: Process, stream: Duplex): Promise<void> {
  process.signal.addEventListener('abort', () => stream.destroy(), { once: true });
  const sending = (async () => {
    for (
      let data = await process.stdin.read(process.signal);
      data;
      data = await process.stdin.read(process.signal)
    )
      stream.write(data);
    stream.end();
  })();
  // The peer may end first; what was to be sent then has nowhere to go.
  sending.catch(() => stream.destroy());
  for await (const chunk of stream.iterator({ destroyOnReturn: false })) await process.print(chunk as Buffer);
}
