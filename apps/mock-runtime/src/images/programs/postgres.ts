import { parseArgs } from '../../commands/paths';
import type { Process } from '../../kernel/process';
import { NetError } from '@tinkernetes/vnet';
import { resolveHost } from '../../net/resolver';

/** postgres as far as readiness goes: it wants a password, opens its port and accepts connections. */
export async function postgres(process: Process): Promise<number> {
  const { POSTGRES_PASSWORD, POSTGRES_HOST_AUTH_METHOD } = process.env;
  if (!POSTGRES_PASSWORD && POSTGRES_HOST_AUTH_METHOD !== 'trust') {
    await process.complain(
      'Error: Database is uninitialized and superuser password is not specified.\n       You must specify POSTGRES_PASSWORD to a non-empty value for the\n       superuser.\n',
    );
    return 1;
  }
  const log = (text: string) =>
    process.complain(
      `${new Date(process.clock.now()).toISOString().replace('T', ' ').replace('Z', '')} UTC [1] LOG:  ${text}\n`,
    );
  const listener = process.net.listen({ port: 5432 }, ({ stream }) => {
    stream.on('error', () => stream.destroy());
    stream.on('data', () =>
      stream.end(errorResponse('0A000', 'this emulated postgres accepts connections, it runs no queries')),
    );
  });
  process.signal.addEventListener('abort', () => listener.close(), { once: true });
  await log('starting PostgreSQL 18.1 on x86_64-pc-linux-gnu');
  await log('listening on IPv4 address "0.0.0.0", port 5432');
  await log('database system is ready to accept connections');
  await process.untilSignal('SIGTERM', 'SIGINT', 'SIGQUIT');
  listener.close();
  await log('database system is shut down');
  return 0;
}

function errorResponse(code: string, message: string): Buffer {
  const fields = Buffer.from(`SFATAL\0C${code}\0M${message}\0\0`);
  const head = Buffer.alloc(5);
  head.write('E');
  head.writeInt32BE(fields.length + 4, 1);
  return Buffer.concat([head, fields]);
}

/** `pg_isready [-h HOST] [-p PORT] [-U USER]`: 0 accepting, 2 no response. */
export async function pgIsReady(process: Process): Promise<number> {
  const { values } = parseArgs(process.argv.slice(1), 'hpUdt');
  const host = values.get('h') ?? values.get('host') ?? '/var/run/postgresql';
  const port = Number(values.get('p') ?? 5432);
  try {
    const address = host.startsWith('/') ? '127.0.0.1' : await resolveHost(process, host);
    const { stream } = await process.net.connect({
      host: address,
      port,
      signal: process.signal,
      timeoutMs: 3000,
    });
    stream.destroy();
    await process.print(`${host}:${port} - accepting connections\n`);
    return 0;
  } catch (error) {
    process.signal.throwIfAborted();
    if (!(error instanceof NetError)) throw error;
    await process.print(`${host}:${port} - no response\n`);
    return 2;
  }
}
