import type { Process } from '../../kernel/process';
import { pythonHttpServer } from './busybox-httpd';
import { serveHttp } from './http-listener';

/** `python -m http.server`, `python -c "print(…)"`. */
export async function python(process: Process): Promise<number> {
  const args = process.argv.slice(1);
  if (args[0] === '--version' || args[0] === '-V') {
    await process.print('Python 3.13.9\n');
    return 0;
  }
  const module = args.indexOf('-m');
  if (module >= 0 && args[module + 1] === 'http.server')
    return pythonHttpServer(process, Number(args[module + 2] ?? 8000) || 8000);
  const code = args[args.indexOf('-c') + 1] ?? '';
  const printed = /^\s*print\(\s*(?:"([^"]*)"|'([^']*)')\s*\)\s*$/.exec(code);
  if (args.includes('-c') && printed) {
    await process.print(`${printed[1] ?? printed[2] ?? ''}\n`);
    return 0;
  }
  const sleep = /^\s*import time;?\s*time\.sleep\((\d+)\)\s*$/.exec(code);
  if (sleep) {
    await process.sleep(Number(sleep[1]) * 1000);
    return 0;
  }
  await process.complain(
    'python: this emulated python knows -m http.server, -c with one print or time.sleep\n',
  );
  return 1;
}

/** `node -e`: an HTTP server of one expression, or one console.log. */
export async function nodeJs(process: Process): Promise<number> {
  const args = process.argv.slice(1);
  if (args[0] === '--version' || args[0] === '-v') {
    await process.print('v24.11.1\n');
    return 0;
  }
  const code = args[args.findIndex((arg) => arg === '-e' || arg === '--eval') + 1] ?? '';
  const printed = /^\s*console\.log\(\s*(?:"([^"]*)"|'([^']*)')\s*\);?\s*$/.exec(code);
  if (printed) {
    await process.print(`${printed[1] ?? printed[2] ?? ''}\n`);
    return 0;
  }
  const port = /\.listen\(\s*(\d+)/.exec(code);
  const body = /\.end\(\s*(?:"([^"]*)"|'([^']*)'|`([^`$]*)`)/.exec(code);
  if (code.includes('createServer') && port) {
    const text = (body?.[1] ?? body?.[2] ?? body?.[3] ?? '').replaceAll('\\n', '\n');
    serveHttp(process, Number(port[1]), (_request, response) => void response.end(text));
    await process.untilSignal('SIGTERM', 'SIGINT');
    return 0;
  }
  await process.complain('node: this emulated node knows -e with one console.log or one http.createServer\n');
  return 1;
}
