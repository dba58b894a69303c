import type { OpenFile } from '../../kernel/open-file';
import type { Interpreter } from '../interpreter';
import type { Builtin } from './builtin';

interface ReadOptions {
  raw: boolean;
  delimiter: number;
  prompt: string | undefined;
  /** At most this many characters. */
  count: number | undefined;
  timeoutMs: number | undefined;
  array: string | undefined;
  fd: number;
  names: string[];
}

function parseRead(argv: readonly string[]): ReadOptions {
  const args = argv.slice(1);
  const options: ReadOptions = {
    raw: false,
    delimiter: 10,
    prompt: undefined,
    count: undefined,
    timeoutMs: undefined,
    array: undefined,
    fd: 0,
    names: [],
  };
  while (/^-\w/.test(args[0] ?? '')) {
    const flag = args.shift() ?? '';
    for (let at = 1; at < flag.length; at++) {
      const letter = flag[at] ?? '';
      if (letter === 'r') options.raw = true;
      if (!'ptndNau'.includes(letter)) continue;
      const value = flag.slice(at + 1) || (args.shift() ?? '');
      if (letter === 'p') options.prompt = value;
      if (letter === 't') options.timeoutMs = Number(value) * 1000;
      if (letter === 'n' || letter === 'N') options.count = Number(value);
      if (letter === 'd') options.delimiter = Buffer.from(value)[0] ?? 0;
      if (letter === 'a') options.array = value;
      if (letter === 'u') options.fd = Number(value);
      break;
    }
  }
  options.names = args;
  return options;
}

/** `read [-r] [-p PROMPT] [-n COUNT] [-t SECONDS] [-d DELIMITER] [-a ARRAY] [name…]`. */
export const read: Builtin = async (shell, argv) => {
  const options = parseRead(argv);
  const { process, state } = shell;
  const input = process.file(options.fd);
  if (options.prompt !== undefined && input.isTty) await process.complain(options.prompt);
  const line = await withinTime(shell, options.timeoutMs, (signal) => readSome(input, options, signal));
  if (line === undefined && options.timeoutMs !== undefined) return 1;
  const ended = line !== undefined && line.at(-1) === options.delimiter;
  const full = options.count !== undefined && line?.length === options.count;
  let text = line ? line.subarray(0, ended ? -1 : undefined).toString() : '';
  while (!options.raw && ended && /(?:^|[^\\])(?:\\\\)*\\$/.test(text)) {
    const more = await input.readLine(process.signal, options.delimiter);
    text = text.slice(0, -1) + (more?.toString().replace(/\n$/, '') ?? '');
  }
  if (!options.raw) text = text.replace(/\\(.)/g, '$1');
  const ifs = state.get('IFS') ?? ' \t\n';
  if (options.array !== undefined) {
    const blanks = new RegExp(`[${ifs.replace(/[\\\]^-]/g, '\\$&')}]+`);
    state.assign(options.array, ifs === '' ? [text] : text.split(blanks).filter((field) => field !== ''));
  } else assignFields(shell, options.names.length > 0 ? options.names : ['REPLY'], text, ifs);
  return ended || full ? 0 : 1;
};

async function readSome(
  input: OpenFile,
  { count, delimiter }: ReadOptions,
  signal: AbortSignal,
): Promise<Buffer | undefined> {
  if (count === undefined) return input.readLine(signal, delimiter);
  const chunk = await input.read(signal);
  if (!chunk) return undefined;
  const end = chunk.indexOf(delimiter);
  const size = end >= 0 && end < count ? end + 1 : Math.min(count, chunk.length);
  input.unread(chunk.subarray(size));
  return chunk.subarray(0, size);
}

async function withinTime<T>(
  { process }: Interpreter,
  timeoutMs: number | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T | undefined> {
  if (timeoutMs === undefined) return work(process.signal);
  const reading = new AbortController();
  const timer = process.clock.setTimeout(() => reading.abort(new Error('timed out')), timeoutMs);
  const killed = () => reading.abort(process.signal.reason);
  process.signal.addEventListener('abort', killed, { once: true });
  try {
    return await work(reading.signal);
  } catch (error) {
    process.signal.throwIfAborted();
    if (!reading.signal.aborted) throw error;
    return undefined;
  } finally {
    timer.cancel();
    process.signal.removeEventListener('abort', killed);
  }
}

function assignFields({ state }: Interpreter, names: readonly string[], text: string, ifs: string): void {
  const blanks = [...ifs].filter((c) => ' \t\n'.includes(c)).join('');
  const trim = (s: string) => {
    let start = 0;
    let end = s.length;
    while (start < end && blanks.includes(s[start] ?? '')) start++;
    while (end > start && blanks.includes(s[end - 1] ?? '')) end--;
    return s.slice(start, end);
  };
  let rest = trim(text);
  names.forEach((name, index) => {
    if (index === names.length - 1) return state.assign(name, rest);
    const at = [...rest].findIndex((c) => ifs.includes(c));
    state.assign(name, at < 0 ? rest : rest.slice(0, at));
    rest = at < 0 ? '' : trim(rest.slice(at + 1));
  });
}

/** `mapfile [-t] name`: the lines of stdin as an array. */
export const mapfile: Builtin = async ({ process, state }, argv) => {
  const name = argv.slice(1).find((arg) => !arg.startsWith('-')) ?? 'MAPFILE';
  const text = (await process.stdin.readAll(process.signal)).toString();
  const lines = text.split(/(?<=\n)/).filter((line) => line !== '');
  state.assign(name, argv.includes('-t') ? lines.map((line) => line.replace(/\n$/, '')) : lines);
  return 0;
};
