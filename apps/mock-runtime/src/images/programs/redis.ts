import type { Duplex } from 'node:stream';
import { NetError } from '@tinkernetes/vnet';
import { parseArgs } from '../../commands/paths';
import type { Process } from '../../kernel/process';
import { resolveHost } from '../../net/resolver';
import { RedisData, type Reply } from './redis-data';

/** redis-server with the commands that examples and probes use, over RESP. */
export async function redisServer(process: Process): Promise<number> {
  const data = new RedisData(process.clock);
  const option = (name: string): string | undefined => {
    const at = process.argv.indexOf(`--${name}`);
    return at > 0 ? process.argv[at + 1] : undefined;
  };
  const port = Number(option('port') ?? 6379);
  const password = option('requirepass');
  const clients = new Set<Duplex>();
  await process.print(`${process.pid}:M * Ready to accept connections tcp\n`);
  try {
    const listener = process.net.listen({ port }, ({ stream }) => {
      clients.add(stream);
      stream.on('error', () => stream.destroy());
      stream.once('close', () => clients.delete(stream));
      // A client that goes away in the middle of a command takes nothing else with it.
      converse(stream, guarded(data, password)).catch(() => stream.destroy());
    });
    const close = () => {
      listener.close();
      for (const client of clients) client.destroy();
    };
    process.signal.addEventListener('abort', close, { once: true });
    await process.untilSignal('SIGTERM', 'SIGINT');
    close();
  } catch (error) {
    if (!(error instanceof NetError)) throw error;
    await process.complain(
      `# Warning: Could not create server TCP listening socket *:${port}: bind: Address already in use\n`,
    );
    return 1;
  }
  await process.print('User requested shutdown...\nRedis is now ready to exit, bye bye...\n');
  return 0;
}

async function converse(stream: Duplex, handle: (command: string[]) => Reply): Promise<void> {
  let text = '';
  // The iterator leaves the stream open: answers are still to be written after the client's last command.
  for await (const chunk of stream.iterator({ destroyOnReturn: false })) {
    text += (chunk as Buffer).toString('latin1');
    for (let parsed = parseCommand(text); parsed; parsed = parseCommand(text)) {
      text = text.slice(parsed.length);
      if (parsed.command.length > 0) stream.write(encode(handle(parsed.command)), 'latin1');
    }
  }
  stream.end();
}

/** A RESP array of bulk strings, or an inline command; undefined where it is not all there. Throws for what is neither. */
function parseCommand(text: string): { command: string[]; length: number } | undefined {
  const end = text.indexOf('\r\n');
  if (!text.startsWith('*')) {
    const line = text.indexOf('\n');
    if (line < 0) return undefined;
    return { command: text.slice(0, line).trim().split(/\s+/).filter(Boolean), length: line + 1 };
  }
  if (end < 0) return undefined;
  let at = end + 2;
  const command: string[] = [];
  for (let i = Number(text.slice(1, end)); i > 0; i--) {
    const header = text.indexOf('\r\n', at);
    if (header < 0) return undefined;
    const size = Number(text.slice(at + 1, header));
    if (text[at] !== '$' || !Number.isInteger(size) || size < 0) throw new Error('Protocol error');
    if (text.length < header + 4 + size) return undefined;
    command.push(text.slice(header + 2, header + 2 + size));
    at = header + 4 + size;
  }
  return { command, length: at };
}

function encode(reply: Reply): string {
  if (reply === null) return '$-1\r\n';
  if (typeof reply === 'number') return `:${reply}\r\n`;
  if (reply instanceof Error) return `-${reply.message}\r\n`;
  if (typeof reply !== 'string') return `*${reply.length}\r\n${reply.map(encode).join('')}`;
  return reply === 'OK' || reply === 'PONG' ? `+${reply}\r\n` : `$${reply.length}\r\n${reply}\r\n`;
}

/** With a password set, a connection may do nothing before AUTH. */
function guarded(data: RedisData, password: string | undefined): (command: string[]) => Reply {
  let isIn = password === undefined;
  return (command) => {
    const name = command[0]?.toUpperCase();
    if (name === 'AUTH') {
      isIn = command.at(-1) === password;
      return isIn ? 'OK' : new Error('WRONGPASS invalid username-password pair or user is disabled.');
    }
    return isIn ? data.run(command) : new Error('NOAUTH Authentication required.');
  };
}

/** `redis-cli [-h HOST] [-p PORT] command…`. */
export async function redisCli(process: Process): Promise<number> {
  const args = process.argv.slice(1);
  const options: string[] = [];
  while (/^-[hpna]$/.test(args[0] ?? '')) options.push(...args.splice(0, 2));
  const { values } = parseArgs(options, 'hpna');
  const host = values.get('h') ?? '127.0.0.1';
  const port = Number(values.get('p') ?? 6379);
  let stream: Duplex;
  try {
    ({ stream } = await process.net.connect({
      host: await resolveHost(process, host),
      port,
      signal: process.signal,
    }));
  } catch (error) {
    process.signal.throwIfAborted();
    await process.complain(
      `Could not connect to Redis at ${host}:${port}: ${error instanceof NetError ? 'Connection refused' : 'Name or service not known'}\n`,
    );
    return 1;
  }
  const resp = (command: readonly string[]) =>
    `*${command.length}\r\n${command.map((arg) => `$${Buffer.byteLength(arg)}\r\n${arg}\r\n`).join('')}`;
  const password = values.get('a') ?? process.env.REDISCLI_AUTH;
  stream.end(`${password === undefined ? '' : resp(['AUTH', password])}${resp(args)}`);
  let text = '';
  for await (const chunk of stream) text += (chunk as Buffer).toString();
  const answer = password === undefined ? text : text.replace(/^[^\r]*\r\n/, '');
  await process.print(show(answer));
  return 0;
}

function show(reply: string): string {
  const lines = reply.split('\r\n').filter((line) => line !== '');
  const [first = ''] = lines;
  if (first === '$-1') return '\n';
  if (first.startsWith('+') || first.startsWith(':')) return `${first.slice(1)}\n`;
  if (first.startsWith('-')) return `(error) ${first.slice(1)}\n`;
  return `${lines.filter((line) => !/^[*$]\d+$/.test(line)).join('\n')}\n`;
}
