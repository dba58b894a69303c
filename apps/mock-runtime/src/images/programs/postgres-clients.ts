import type { Duplex } from 'node:stream';
import { NetError } from '@tinkernetes/vnet';
import { parseArgs, type ParsedArgs } from '../../commands/paths';
import type { Process } from '../../kernel/process';
import { resolveHost, ResolveError } from '../../net/resolver';
import { encodeMessage, MessageReader, protocolVersion, textsOf, type Message } from './postgres-protocol';

interface Target {
  host: string;
  port: number;
  user: string;
  database: string;
}

const socketDirectory = '/var/run/postgresql';

/** `valued`: the letters of options that take a value. */
function targetOf({ env, argv }: Process, valued: string): Target & ParsedArgs {
  const parsed = parseArgs(argv.slice(1), valued);
  const { values, rest } = parsed;
  const user = values.get('U') ?? values.get('username') ?? env.PGUSER ?? 'postgres';
  return {
    host: values.get('h') ?? values.get('host') ?? env.PGHOST ?? socketDirectory,
    port: Number(values.get('p') ?? values.get('port') ?? env.PGPORT ?? 5432),
    user,
    database: values.get('d') ?? values.get('dbname') ?? rest[0] ?? env.PGDATABASE ?? user,
    ...parsed,
  };
}

async function connect(process: Process, { host, port }: Target): Promise<Duplex> {
  const address = host.startsWith('/') ? '127.0.0.1' : await resolveHost(process, host);
  const { stream } = await process.net.connect({
    host: address,
    port,
    signal: process.signal,
    timeoutMs: 3000,
  });
  return stream;
}

async function* messagesOf(stream: Duplex): AsyncGenerator<Message> {
  const reader = new MessageReader(true);
  for await (const chunk of stream) {
    reader.push(chunk as Buffer);
    for (let message = reader.next(); message; message = reader.next()) yield message;
  }
}

const startUp = ({ user, database }: Target): Buffer =>
  encodeMessage('', protocolVersion, 'user', user, 'database', database, '');

/** `pg_isready [-h HOST] [-p PORT] [-U USER]`: 0 accepting, 2 no response. */
export async function pgIsReady(process: Process): Promise<number> {
  const target = targetOf(process, 'hpUdt');
  const where = `${target.host}:${target.port}`;
  try {
    const stream = await connect(process, target);
    stream.write(startUp(target));
    // Whatever it answers, a password wanted or a database missing, it accepts connections.
    for await (const message of messagesOf(stream)) if (message.type !== '') break;
    await process.print(`${where} - accepting connections\n`);
    return 0;
  } catch (error) {
    process.signal.throwIfAborted();
    if (!(error instanceof NetError) && !(error instanceof ResolveError)) throw error;
    await process.print(`${where} - no response\n`);
    return 2;
  }
}

/** `psql [-h HOST] [-U USER] [-d DATABASE] [-t] -c COMMAND`. */
export async function psql(process: Process): Promise<number> {
  const target = targetOf(process, 'hpUdc');
  const command = target.values.get('c') ?? target.values.get('command');
  const text = command ?? (await process.stdin.readAll(process.signal)).toString();
  let stream: Duplex;
  try {
    stream = await connect(process, target);
  } catch (error) {
    process.signal.throwIfAborted();
    if (error instanceof ResolveError) {
      await process.complain(
        `psql: error: could not translate host name "${target.host}" to address: Name or service not known\n`,
      );
      return 2;
    }
    if (!(error instanceof NetError)) throw error;
    await process.complain(
      `psql: error: connection to server at "${target.host}", port ${target.port} failed: Connection refused\n\tIs the server running on that host and accepting TCP/IP connections?\n`,
    );
    return 2;
  }
  stream.write(startUp(target));
  let open = false;
  let status = 0;
  let column = '';
  for await (const { type, body } of messagesOf(stream)) {
    if (type === 'R' && body.readInt32BE(0) === 3)
      stream.write(encodeMessage('p', process.env.PGPASSWORD ?? ''));
    else if (type === 'E') {
      const message =
        textsOf(body)
          .find((field) => field.startsWith('M'))
          ?.slice(1) ?? '';
      await process.complain(open ? `ERROR:  ${message}\n` : `psql: error: FATAL:  ${message}\n`);
      status = open ? 1 : 2;
    } else if (type === 'T') column = textsOf(body.subarray(2))[0] ?? '';
    else if (type === 'D')
      await process.print(table(column, body.subarray(6).toString(), target.flags.has('t')));
    else if (type === 'C' && column === '') await process.print(`${textsOf(body)[0] ?? ''}\n`);
    else if (type === 'Z' && !open) {
      open = true;
      stream.write(encodeMessage('Q', text));
    } else if (type === 'Z') stream.end(encodeMessage('X'));
  }
  return status;
}

function table(column: string, value: string, tuplesOnly: boolean): string {
  if (tuplesOnly) return ` ${value}\n\n`;
  const width = Math.max(column.length, value.length);
  return ` ${column.padStart(Math.floor((width + column.length) / 2)).padEnd(width)} \n${'-'.repeat(width + 2)}\n ${value.padStart(width)}\n(1 row)\n\n`;
}
