import type { Duplex } from 'node:stream';
import type { Process } from '../../kernel/process';
import {
  encodeMessage,
  int16,
  MessageReader,
  protocolVersion,
  sslRequest,
  textsOf,
} from './postgres-protocol';

const version = '18.1';

/** postgres as far as readiness and simple queries go: it wants a password, lets clients in, answers `SELECT 1`. */
export async function postgres(process: Process): Promise<number> {
  const { POSTGRES_PASSWORD, POSTGRES_HOST_AUTH_METHOD } = process.env;
  const trusts = POSTGRES_HOST_AUTH_METHOD === 'trust';
  if (!POSTGRES_PASSWORD && !trusts) {
    await process.complain(
      'Error: Database is uninitialized and superuser password is not specified.\n       You must specify POSTGRES_PASSWORD to a non-empty value for the\n       superuser.\n',
    );
    return 1;
  }
  const log = (text: string, level = 'LOG') =>
    process.complain(
      `${new Date(process.clock.now()).toISOString().replace('T', ' ').replace('Z', '')} UTC [1] ${level}:  ${text}\n`,
    );
  const clients = new Set<Duplex>();
  const listener = process.net.listen({ port: 5432 }, ({ stream, remote }) => {
    clients.add(stream);
    stream.once('close', () => clients.delete(stream));
    stream.on('error', () => stream.destroy());
    const password = trusts || remote.host === '127.0.0.1' ? undefined : POSTGRES_PASSWORD;
    new Session(stream, process, { password, log: (text) => void log(text, 'FATAL').catch(() => undefined) });
  });
  const close = () => {
    listener.close();
    for (const client of clients) client.destroy();
  };
  process.signal.addEventListener('abort', close, { once: true });
  await log(`starting PostgreSQL ${version} on x86_64-pc-linux-gnu`);
  await log('listening on IPv4 address "0.0.0.0", port 5432');
  await log('database system is ready to accept connections');
  await process.untilSignal('SIGTERM', 'SIGINT', 'SIGQUIT');
  close();
  await log('database system is shut down');
  return 0;
}

interface SessionOptions {
  /** Wanted from the client. */
  password: string | undefined;
  log(text: string): void;
}

/** One client's conversation. */
class Session {
  private readonly reader = new MessageReader(false);
  private user = '';
  private database = '';
  private state: 'starting' | 'password' | 'open' = 'starting';

  constructor(
    private readonly stream: Duplex,
    private readonly process: Process,
    private readonly options: SessionOptions,
  ) {
    stream.on('data', (data: Buffer) => {
      try {
        this.receive(data);
      } catch (error) {
        // Its connection ends, as it would end a process of its own; not the node.
        stream.destroy(error instanceof Error ? error : undefined);
      }
    });
    stream.on('end', () => stream.end());
  }

  private receive(data: Buffer): void {
    this.reader.push(data);
    for (let message = this.reader.next(); message; message = this.reader.next())
      this.handle(message.type, message.body);
  }

  private handle(type: string, body: Buffer): void {
    if (this.state === 'starting') return this.start(body);
    if (this.state === 'password') return this.authenticate(textsOf(body)[0] ?? '');
    if (type === 'Q') return this.query(textsOf(body)[0] ?? '');
    if (type === 'X') this.stream.end();
    else this.fail('0A000', 'this emulated postgres knows simple queries only');
  }

  private start(body: Buffer): void {
    const code = body.readInt32BE(0);
    // No TLS: the client goes on without, unless it insists.
    if (code === sslRequest) return void this.stream.write('N');
    if (code !== protocolVersion) return this.refuse('08P01', 'unsupported frontend protocol');
    const texts = textsOf(body.subarray(4));
    const parameter = (name: string) => texts[texts.findIndex((text, i) => i % 2 === 0 && text === name) + 1];
    this.user = parameter('user') ?? '';
    this.database = parameter('database') ?? this.user;
    this.reader.expectTypes();
    if (this.options.password === undefined) return this.welcome();
    this.state = 'password';
    this.stream.write(encodeMessage('R', 3));
  }

  private authenticate(password: string): void {
    if (password === this.options.password) return this.welcome();
    this.refuse('28P01', `password authentication failed for user "${this.user}"`);
  }

  private welcome(): void {
    const { POSTGRES_DB, POSTGRES_USER = 'postgres' } = this.process.env;
    const databases = ['postgres', 'template1', POSTGRES_DB ?? POSTGRES_USER];
    if (this.user !== POSTGRES_USER) return this.refuse('28000', `role "${this.user}" does not exist`);
    if (!databases.includes(this.database))
      return this.refuse('3D000', `database "${this.database}" does not exist`);
    this.state = 'open';
    this.stream.write(
      Buffer.concat([
        encodeMessage('R', 0),
        encodeMessage('S', 'server_version', version),
        encodeMessage('S', 'client_encoding', 'UTF8'),
        encodeMessage('K', this.process.pid, 0),
        encodeMessage('Z', Buffer.from('I')),
      ]),
    );
  }

  private query(text: string): void {
    const statements = text
      .split(';')
      .map((statement) => statement.trim())
      .filter((statement) => statement !== '');
    if (statements.length === 0) this.stream.write(encodeMessage('I'));
    for (const statement of statements) {
      const value = this.valueOf(statement);
      if (value) this.row(value.name, value.text);
      else if (/^(?:set|begin|commit|rollback)\b/i.test(statement))
        this.stream.write(encodeMessage('C', (statement.split(/\s/)[0] ?? '').toUpperCase()));
      else {
        this.fail('0A000', `this emulated postgres keeps no tables; it can't run: ${statement}`);
        break;
      }
    }
    this.stream.write(encodeMessage('Z', Buffer.from('I')));
  }

  /** Of `SELECT` with one constant or well-known function. */
  private valueOf(statement: string): { name: string; text: string } | undefined {
    const asked = /^(?:select|show)\s+(.+?)(?:\s+as\s+(\w+))?$/i.exec(statement);
    const [, expression = '', alias] = asked ?? [];
    const literal = /^(?:(-?\d+(?:\.\d+)?)|'([^']*)')$/.exec(expression);
    if (literal) return { name: alias ?? '?column?', text: literal[1] ?? literal[2] ?? '' };
    const functions = new Map([
      ['version()', `PostgreSQL ${version} on x86_64-pc-linux-gnu`],
      ['server_version', version],
      ['current_database()', this.database],
      ['current_user', this.user],
      ['now()', new Date(this.process.clock.now()).toISOString().replace('T', ' ').replace('Z', '+00')],
    ]);
    const text = functions.get(expression.toLowerCase());
    return text === undefined ? undefined : { name: alias ?? expression.replace('()', ''), text };
  }

  private row(name: string, text: string): void {
    const textType = Buffer.concat([int16(0)]);
    const description = encodeMessage('T', int16(1), name, 0, textType, 25, int16(-1), -1, int16(0));
    const bytes = Buffer.from(text);
    this.stream.write(
      Buffer.concat([
        description,
        encodeMessage('D', int16(1), bytes.length, bytes),
        encodeMessage('C', 'SELECT 1'),
      ]),
    );
  }

  private fail(code: string, message: string, severity = 'ERROR'): void {
    this.stream.write(
      encodeMessage('E', Buffer.from(`S${severity}\0V${severity}\0C${code}\0M${message}\0\0`)),
    );
  }

  private refuse(code: string, message: string): void {
    this.options.log(message);
    this.fail(code, message, 'FATAL');
    this.stream.end();
  }
}
