import type { Process } from '../../kernel/process';
import { serveHttp } from './http-listener';

/** `node -e`: an HTTP server of one expression, console.log of texts, also every so often. */
export async function nodeJs(process: Process): Promise<number> {
  const args = process.argv.slice(1);
  if (args[0] === '--version' || args[0] === '-v') {
    await process.print('v24.11.1\n');
    return 0;
  }
  const code = args[args.findIndex((arg) => arg === '-e' || arg === '--eval') + 1] ?? '';
  const port = /\.listen\(\s*(\d+)/.exec(code);
  const body = /\.end\(\s*(?:"([^"]*)"|'([^']*)'|`([^`$]*)`)/.exec(code);
  if (code.includes('createServer') && port) {
    const text = (body?.[1] ?? body?.[2] ?? body?.[3] ?? '').replaceAll('\\n', '\n');
    serveHttp(process, Number(port[1]), (_request, response) => void response.end(text));
    await process.untilSignal('SIGTERM', 'SIGINT');
    return 0;
  }
  const repeated = /^setInterval\(\s*\(\)\s*=>\s*console\.log\((['"`])(.*?)\1\)\s*,\s*(\d+)\s*\);?$/.exec(
    code.trim(),
  );
  if (repeated) {
    for (;;) {
      await process.sleep(Number(repeated[3]));
      await process.print(`${repeated[2] ?? ''}\n`);
    }
  }
  if (await printAll(process, code)) return 0;
  await process.complain(
    'node: this emulated node knows -e with console.log, setInterval or one http.createServer\n',
  );
  return 1;
}

/** A sequence of `console.log('…')` and `setTimeout(() => {}, ms)`; false when there is something else in it. */
async function printAll(process: Process, code: string): Promise<boolean> {
  const statements = code
    .split(/[;\n]/)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '');
  const known = statements.map((statement) => ({
    text: /^console\.(?:log|info)\(\s*(['"`])(.*?)\1\s*\)$/.exec(statement)?.[2],
    waitMs: /^setTimeout\(\s*\(\)\s*=>\s*\{\s*\}\s*,\s*(\d+)\s*\)$/.exec(statement)?.[1],
  }));
  if (known.some(({ text, waitMs }) => text === undefined && waitMs === undefined)) return false;
  for (const { text } of known) if (text !== undefined) await process.print(`${text}\n`);
  // Timers run beside each other: the longest one keeps node alive.
  await process.sleep(Math.max(0, ...known.map(({ waitMs }) => Number(waitMs ?? 0))));
  return true;
}
