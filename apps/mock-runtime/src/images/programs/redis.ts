import type { Duplex } from 'node:stream';
import { NetError } from '@tinkernetes/vnet';
import { parseArgs } from '../../commands/paths';
import type { Process } from '../../kernel/process';
import { resolveHost } from '../../net/resolver';

type Reply = string | number | null | Error | readonly Reply[];

/** redis-server with the commands that examples and probes use, over RESP. */
export async function redisServer(process: Process): Promise<number> {
  const data = new Map<string, string>();
  const at = process.argv.indexOf('--port');
  const port = at > 0 ? Number(process.argv[at + 1]) : 6379;
  const clients = new Set<Duplex>();
  await process.print(`${process.pid}:M * Ready to accept connections tcp\n`);
  try {
    const listener = process.net.listen({ port }, ({ stream }) => {
      clients.add(stream);
      stream.on('error', () => stream.destroy());
      stream.once('close', () => clients.delete(stream));
      // A client that goes away in the middle of a command takes nothing else with it.
      converse(stream, (command) => answer(data, command)).catch(() => stream.destroy());
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

/** A RESP array of bulk strings, or an inline command. */
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

function answer(data: Map<string, string>, [name = '', key = '', ...values]: readonly string[]): Reply {
  const wholeNumber = (by: number): Reply => {
    const next = Number(data.get(key) ?? '0') + by;
    if (!Number.isInteger(next)) return new Error('ERR value is not an integer or out of range');
    data.set(key, String(next));
    return next;
  };
  switch (name.toUpperCase()) {
    case 'PING':
      return key || 'PONG';
    case 'ECHO':
      return key;
    case 'SET':
      data.set(key, values[0] ?? '');
      return 'OK';
    case 'GET':
      return data.get(key) ?? null;
    case 'DEL':
      return [key, ...values].filter((k) => data.delete(k)).length;
    case 'EXISTS':
      return [key, ...values].filter((k) => data.has(k)).length;
    case 'INCR':
      return wholeNumber(1);
    case 'DECR':
      return wholeNumber(-1);
    case 'INCRBY':
      return wholeNumber(Number(values[0]));
    case 'APPEND':
      data.set(key, (data.get(key) ?? '') + (values[0] ?? ''));
      return data.get(key)?.length ?? 0;
    case 'KEYS':
      return [...data.keys()];
    case 'DBSIZE':
      return data.size;
    case 'FLUSHALL':
      data.clear();
      return 'OK';
    case 'INFO':
      return '# Server\r\nredis_version:8.2.2\r\n# Replication\r\nrole:master\r\n';
    case 'COMMAND':
    case 'CONFIG':
      return [];
    case 'SELECT':
    case 'CLIENT':
      return 'OK';
    default:
      return new Error(`ERR unknown command '${name}'`);
  }
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
  stream.end(`*${args.length}\r\n${args.map((arg) => `$${Buffer.byteLength(arg)}\r\n${arg}\r\n`).join('')}`);
  let text = '';
  for await (const chunk of stream) text += (chunk as Buffer).toString();
  await process.print(show(text));
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
