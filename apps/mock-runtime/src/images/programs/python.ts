import type { Process } from '../../kernel/process';
import { pythonHttpServer } from './busybox-httpd';
import { serveHttp } from './http-listener';

const version = '3.13.9';

/**
 * python as far as manifests use it: `-m http.server [PORT] [-d DIR]`, and with `-c` or a file either a server made from
 * http.server, or a sequence of print, time.sleep and sys.exit, also in `while True:` and `for … in range(n):`.
 */
export async function python(process: Process): Promise<number> {
  const args = process.argv.slice(1).filter((arg) => arg !== '-u');
  if (args[0] === '--version' || args[0] === '-V') {
    await process.print(`Python ${version}\n`);
    return 0;
  }
  if (args[0] === '-m' && args[1] === 'http.server') return serveModule(process, args.slice(2));
  const code = await codeOf(process, args);
  if (code === undefined) {
    await process.complain(
      `python: can't open file '${args[0] ?? ''}': [Errno 2] No such file or directory\n`,
    );
    return 2;
  }
  const server = /(?:HTTPServer|TCPServer)\(\s*\(\s*['"][^'"]*['"]\s*,\s*(\d+)\s*\)/.exec(code);
  if (server && /serve_forever/.test(code)) return serveCode(process, Number(server[1]), code);
  return new Script(process).run(code);
}

async function codeOf(process: Process, args: readonly string[]): Promise<string | undefined> {
  const at = args.indexOf('-c');
  if (at >= 0) return args[at + 1] ?? '';
  const [file] = args;
  if (file === undefined || file === '-') return (await process.stdin.readAll(process.signal)).toString();
  const path = file.startsWith('/') ? file : `${process.cwd}/${file}`;
  return process.fs.exists(path) ? process.fs.readFile(path).toString() : undefined;
}

function serveModule(process: Process, args: readonly string[]): Promise<number> {
  const at = args.findIndex((arg) => arg === '-d' || arg === '--directory');
  if (at >= 0) process.cwd = args[at + 1] ?? process.cwd;
  const port = args.find((arg, i) => /^\d+$/.test(arg) && !args[i - 1]?.startsWith('-'));
  return pythonHttpServer(process, Number(port ?? 8000));
}

/** A handler that writes one text answers it; without one the working directory is served. */
async function serveCode(process: Process, port: number, code: string): Promise<number> {
  const body = /wfile\.write\(\s*b?(['"])((?:\\.|(?!\1).)*)\1/.exec(code)?.[2];
  if (body === undefined) return pythonHttpServer(process, port);
  const status = Number(/send_response\(\s*(\d+)/.exec(code)?.[1] ?? 200);
  serveHttp(process, port, (_request, response) => void response.writeHead(status).end(unescaped(body)));
  await process.untilSignal('SIGTERM', 'SIGINT');
  return 0;
}

const unescaped = (text: string): string =>
  text.replace(/\\(.)/g, (_, c: string) => ({ n: '\n', t: '\t', r: '\r' })[c] ?? c);

/** Ends the script with this code. */
class ScriptExit extends Error {
  constructor(readonly code: number) {
    super('exit');
  }
}

class UnknownStatement extends Error {}

/** Statements one after the other; blocks by indentation. */
class Script {
  private readonly names = new Map<string, string>();

  constructor(private readonly process: Process) {}

  async run(code: string): Promise<number> {
    try {
      await this.block(linesOf(code));
      return 0;
    } catch (error) {
      if (error instanceof ScriptExit) return error.code;
      if (!(error instanceof UnknownStatement)) throw error;
      await this.process.complain(`python: this emulated python does not know: ${error.message}\n`);
      return 1;
    }
  }

  private async block(lines: readonly Line[]): Promise<void> {
    for (let i = 0; i < lines.length; i++) {
      const line = lines[i];
      if (!line) continue;
      const loop = /^(?:while (?:True|1)|for (\w+) in range\((\d+)\)):\s*(.*)$/.exec(line.text);
      if (!loop) {
        await this.statement(line.text);
        continue;
      }
      const [, name, count, inline = ''] = loop;
      let end = i + 1;
      while ((lines[end]?.indent ?? -1) > line.indent) end += 1;
      // What follows a colon on its line, and after semicolons there, is the body.
      const body = inline === '' ? lines.slice(i + 1, end) : linesOf(inline);
      const times = count === undefined ? Infinity : Number(count);
      for (let turn = 0; turn < times; turn++) {
        if (name) this.names.set(name, String(turn));
        await this.block(body);
        await new Promise<void>((resolve) => setImmediate(resolve));
        this.process.signal.throwIfAborted();
      }
      i = end - 1;
    }
  }

  private async statement(text: string): Promise<void> {
    if (/^(?:import|from) |^pass$|^#|^$/.test(text)) return;
    const call = /^([\w.]+)\((.*)\)$/.exec(text);
    const assigned = /^(\w+)\s*=\s*(.+)$/.exec(text);
    switch (call?.[1]) {
      case 'print':
        return this.process.print(
          `${argumentsOf(call[2] ?? '')
            .map((arg) => this.value(arg))
            .join(' ')}\n`,
        );
      case 'time.sleep':
      case 'sleep':
        return this.process.sleep(Number(this.value(call[2] ?? '')) * 1000);
      case 'sys.exit':
      case 'exit':
      case 'quit':
        throw new ScriptExit(Number(call[2] || 0));
      case undefined:
        if (!assigned) throw new UnknownStatement(text);
        this.names.set(assigned[1] ?? '', this.value(assigned[2] ?? ''));
        return;
      default:
        throw new UnknownStatement(text);
    }
  }

  private value(expression: string): string {
    const text = expression.trim();
    const literal = /^(f?)(['"])((?:\\.|(?!\2).)*)\2$/.exec(text);
    if (literal) {
      const [, formatted, , content = ''] = literal;
      const plain = unescaped(content);
      return formatted ? plain.replace(/\{([^}]+)\}/g, (_, inner: string) => this.value(inner)) : plain;
    }
    if (/^-?\d+(?:\.\d+)?$/.test(text)) return text;
    const named = this.names.get(text);
    if (named !== undefined) return named;
    const variable =
      /^os\.(?:environ\[|getenv\(|environ\.get\()\s*(['"])(\w+)\1(?:\s*,\s*(.+?))?\s*[\])]$/.exec(text);
    if (variable)
      return this.process.env[variable[2] ?? ''] ?? (variable[3] ? this.value(variable[3]) : 'None');
    if (text === 'socket.gethostname()') return this.process.machine.hostname;
    if (text === 'time.time()') return String(this.process.clock.now() / 1000);
    throw new UnknownStatement(text);
  }
}

interface Line {
  indent: number;
  text: string;
}

/** Semicolons separate statements, but not behind the colon of a loop, whose body they belong to. */
function linesOf(code: string): Line[] {
  return code.split('\n').flatMap((line) => {
    const indent = line.length - line.trimStart().length;
    const text = line.trim();
    if (text === '') return [];
    const parts = /^(?:while|for)\b/.test(text) ? [text] : splitOutsideQuotes(text, ';');
    return parts.map((part) => ({ indent, text: part.trim() })).filter((part) => part.text !== '');
  });
}

const argumentsOf = (text: string): string[] =>
  splitOutsideQuotes(text, ',').filter(
    (arg) => arg.trim() !== '' && !/^\s*(?:flush|end|sep|file)\s*=/.test(arg),
  );

/** Separators inside quotes or brackets are part of the text. */
function splitOutsideQuotes(text: string, separator: string): string[] {
  const parts: string[] = [];
  let part = '';
  let quote = '';
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text[i] ?? '';
    if (quote !== '') {
      if (c === '\\') part += c + (text[++i] ?? '');
      else part += c;
      if (c === quote) quote = '';
      continue;
    }
    if (c === '"' || c === "'") quote = c;
    if ('([{'.includes(c)) depth += 1;
    if (')]}'.includes(c)) depth -= 1;
    if (c === separator && depth === 0) {
      parts.push(part);
      part = '';
    } else part += c;
  }
  return [...parts, part];
}
