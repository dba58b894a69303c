import type { Duplex } from 'node:stream';
import { NetError } from '@tinkernetes/vnet';
import { absolute } from '../../commands/paths';
import { FileError } from '../../files/file-error';
import type { Process } from '../../kernel/process';
import { RedisConfig } from './redis-config';
import { RedisData, type Reply } from './redis-data';

/** redis-server with the commands that examples and probes use, over RESP. */
export async function redisServer(process: Process): Promise<number> {
  const file = process.argv[1];
  let text = '';
  if (file !== undefined && !file.startsWith('-')) {
    try {
      text = process.fs.readFile(absolute(process, file)).toString();
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      await process.complain(`Fatal error, can't open config file '${file}': ${error.message}\n`);
      return 1;
    }
  }
  const config = new RedisConfig(text, process.argv.slice(1));
  const data = new RedisData(process.clock, config);
  const port = Number(config.get('port'));
  const password = config.get('requirepass') || undefined;
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
