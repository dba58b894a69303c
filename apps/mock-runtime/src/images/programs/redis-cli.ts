import type { Duplex } from 'node:stream';
import { NetError } from '@tinkernetes/vnet';
import { parseArgs } from '../../commands/paths';
import type { Process } from '../../kernel/process';
import { resolveHost } from '../../net/resolver';

/** An answer, decoded; an Error is what the server refused. */
type Answer = string | number | null | Error | readonly Answer[];

/** `redis-cli [-h HOST] [-p PORT] [-a PASSWORD] [command…]`; without a command those that are typed, or piped in. */
export async function redisCli(process: Process): Promise<number> {
  const args = process.argv.slice(1);
  const options: string[] = [];
  while (/^-[hpna]$/.test(args[0] ?? '')) options.push(...args.splice(0, 2));
  while (/^--?(raw|no-auth-warning)$/.test(args[0] ?? '')) options.push(...args.splice(0, 1));
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
  const connection = new Connection(stream);
  try {
    const password = values.get('a') ?? process.env.REDISCLI_AUTH;
    if (password !== undefined) await connection.ask(['AUTH', password]);
    const show = process.stdout.isTty ? pretty : raw;
    if (args.length > 0) {
      await process.print(show(await connection.ask(args)));
      return 0;
    }
    return await converse(process, connection, { prompt: `${host}:${port}> `, show });
  } finally {
    stream.destroy();
  }
}

async function converse(
  process: Process,
  connection: Connection,
  { prompt, show }: { prompt: string; show: (answer: Answer) => string },
): Promise<number> {
  for (;;) {
    if (process.stdin.isTty) await process.print(prompt);
    const line = await process.stdin.readLine(process.signal);
    if (!line) return 0;
    const command = wordsOf(line.toString().trim());
    if (command.length === 0) continue;
    if (/^(quit|exit)$/i.test(command[0] ?? '')) return 0;
    await process.print(show(await connection.ask(command)));
  }
}

/** Split at blanks, but for those in quotes. */
const wordsOf = (line: string): string[] =>
  [...line.matchAll(/"((?:[^"\\]|\\.)*)"|'([^']*)'|(\S+)/g)].map(([, a, b, c]) => a ?? b ?? c ?? '');

/** One question after the other over a connection. */
export class Connection {
  private text = '';
  private readonly chunks: AsyncIterator<Buffer>;

  constructor(private readonly stream: Duplex) {
    this.chunks = stream[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  }

  async ask(command: readonly string[]): Promise<Answer> {
    const parts = command.map((arg) => `$${Buffer.byteLength(arg)}\r\n${arg}\r\n`);
    this.stream.write(`*${command.length}\r\n${parts.join('')}`);
    return this.answer();
  }

  private async answer(): Promise<Answer> {
    const line = await this.line();
    const content = line.slice(1);
    switch (line[0]) {
      case '+':
        return content;
      case '-':
        return new Error(content);
      case ':':
        return Number(content);
      case '$':
        return content === '-1' ? null : this.bytes(Number(content));
      default: {
        const items: Answer[] = [];
        for (let i = 0; i < Number(content); i++) items.push(await this.answer());
        return items;
      }
    }
  }

  private async line(): Promise<string> {
    while (!this.text.includes('\r\n')) await this.more();
    const end = this.text.indexOf('\r\n');
    const line = this.text.slice(0, end);
    this.text = this.text.slice(end + 2);
    return line;
  }

  private async bytes(length: number): Promise<string> {
    while (this.text.length < length + 2) await this.more();
    const value = this.text.slice(0, length);
    this.text = this.text.slice(length + 2);
    return value;
  }

  private async more(): Promise<void> {
    const { value, done } = await this.chunks.next();
    if (done) throw new Error('Server closed the connection');
    this.text += value.toString('latin1');
  }
}

/** For other programs. */
function raw(answer: Answer): string {
  if (answer === null) return '\n';
  if (answer instanceof Error) return `${answer.message}\n`;
  return typeof answer === 'object' ? answer.map(raw).join('') || '\n' : `${answer}\n`;
}

/** For people: what kind of answer it is. */
function pretty(answer: Answer, indent = ''): string {
  if (answer === null) return '(nil)\n';
  if (answer instanceof Error) return `(error) ${answer.message}\n`;
  if (typeof answer === 'number') return `(integer) ${answer}\n`;
  if (typeof answer === 'string')
    return answer === 'OK' || answer === 'PONG' ? `${answer}\n` : `${JSON.stringify(answer)}\n`;
  if (answer.length === 0) return '(empty array)\n';
  return answer
    .map((item, index) => `${index > 0 ? indent : ''}${index + 1}) ${pretty(item, `${indent}   `)}`)
    .join('');
}
