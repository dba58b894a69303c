import type { Duplex } from 'node:stream';
import { NetError } from '@tinkernetes/vnet';
import { absolute } from '../../commands/paths';
import { FileError } from '../../files/file-error';
import type { Process } from '../../kernel/process';
import { RedisConfig } from './redis-config';
import { RedisData, type Reply } from './redis-data';
import { encode, parseCommand } from './redis-protocol';
import { RedisSnapshot } from './redis-snapshot';
import { follow, leaderOf, readOnly, Replicas } from './redis-replication';

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
  const snapshot = new RedisSnapshot(process, config, data);
  data.save = () => snapshot.save();
  const unreadable = snapshot.load();
  if (unreadable !== undefined) {
    await process.complain(`Fatal error loading the DB: ${unreadable}. Exiting.\n`);
    return 1;
  }
  const replicas = new Replicas(data);
  const leader = leaderOf(config);
  data.replication = leader
    ? `role:slave\r\nmaster_host:${leader.host}\r\nmaster_port:${leader.port}\r\n`
    : () => `role:master\r\nconnected_slaves:${replicas.count}\r\n`;
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
      const run = leader ? readOnly(data) : replicas.running;
      converse(stream, { handle: guarded(run, password), replicas }).catch(() => stream.destroy());
    });
    const close = () => {
      listener.close();
      for (const client of clients) client.destroy();
    };
    process.signal.addEventListener('abort', close, { once: true });
    // It ends only where nobody reads any more what it says.
    if (leader) follow(process, leader, data).catch(() => undefined);
    await process.untilSignal('SIGTERM', 'SIGINT');
    close();
  } catch (error) {
    if (!(error instanceof NetError)) throw error;
    await process.complain(
      `# Warning: Could not create server TCP listening socket *:${port}: bind: Address already in use\n`,
    );
    return 1;
  }
  await process.print('User requested shutdown...\n');
  const saved = snapshot.isWanted ? snapshot.save() : 'OK';
  if (saved instanceof Error) await process.complain(`Error trying to save the DB: ${saved.message}\n`);
  await process.print('Redis is now ready to exit, bye bye...\n');
  return 0;
}

interface Conversation {
  handle(command: string[]): Reply;
  replicas: Replicas;
}

const isSync = ([name = '']: readonly string[]): boolean => /^p?sync$/i.test(name);

async function converse(stream: Duplex, { handle, replicas }: Conversation): Promise<void> {
  let text = '';
  // The iterator leaves the stream open: answers are still to be written after the client's last command.
  for await (const chunk of stream.iterator({ destroyOnReturn: false })) {
    text += (chunk as Buffer).toString('latin1');
    for (let parsed = parseCommand(text); parsed; parsed = parseCommand(text)) {
      text = text.slice(parsed.length);
      const { command } = parsed;
      if (command.length === 0) continue;
      // Whoever may not do anything may not have a copy, either.
      const reply = handle(isSync(command) ? ['REPLCONF'] : command);
      if (isSync(command) && !(reply instanceof Error)) replicas.add(stream);
      else stream.write(encode(reply), 'latin1');
    }
  }
  stream.end();
}

/** With a password set, a connection may do nothing before AUTH. */
function guarded(
  run: (command: string[]) => Reply,
  password: string | undefined,
): (command: string[]) => Reply {
  let isIn = password === undefined;
  return (command) => {
    const name = command[0]?.toUpperCase();
    if (name === 'AUTH') {
      isIn = command.at(-1) === password;
      return isIn ? 'OK' : new Error('WRONGPASS invalid username-password pair or user is disabled.');
    }
    return isIn ? run(command) : new Error('NOAUTH Authentication required.');
  };
}
