import { posix } from 'node:path';
import { openPath } from '../files/open-path';
import type { Process } from '../kernel/process';
import { sendHttp } from '../net/http-client';
import { ResolveError } from '../net/resolver';
import { absolute } from './paths';
import { errorCode } from '../error-code';
import { addHeader, headText, redirectOf, toUrl } from './http-text';

const maxRedirects = 10;

/** busybox wget: `-q -O FILE -S -T SEC --header --post-data --no-check-certificate --spider`. */
export async function wget(process: Process): Promise<number> {
  const args = process.argv.slice(1);
  const headers: Record<string, string> = { 'User-Agent': 'Wget' };
  let output: string | undefined;
  let quiet = false;
  let showHeaders = false;
  let spider = false;
  let insecure = false;
  let body: string | undefined;
  let timeoutMs: number | undefined;
  let target: string | undefined;
  const valueOf = (arg: string, i: number): string =>
    arg.includes('=') ? arg.slice(arg.indexOf('=') + 1) : (args.splice(i + 1, 1)[0] ?? '');
  for (let i = 0; i < args.length; i++) {
    const arg = args[i] ?? '';
    const short = /^-(q?S?)O(.*)$/.exec(arg);
    if (short) {
      quiet ||= arg.startsWith('-q');
      showHeaders ||= short[1]?.includes('S') ?? false;
      output = short[2] || args.splice(i + 1, 1)[0];
    } else if (arg.startsWith('--header')) addHeader(headers, valueOf(arg, i));
    else if (arg.startsWith('--post-data')) body = valueOf(arg, i);
    else if (arg.startsWith('--timeout') || arg === '-T') timeoutMs = Number(valueOf(arg, i)) * 1000;
    else if (/^-T\d+$/.test(arg)) timeoutMs = Number(arg.slice(2)) * 1000;
    else if (arg.startsWith('--tries') || arg === '-t') valueOf(arg, i);
    else if (arg === '--no-check-certificate') insecure = true;
    else if (arg === '--spider') spider = true;
    else if (arg === '-q' || arg === '--quiet') quiet = true;
    else if (arg === '-S' || arg === '--server-response') showHeaders = true;
    else if (!arg.startsWith('-')) target = arg;
  }
  if (target === undefined) {
    await process.complain('wget: missing URL\n');
    return 1;
  }
  const say = (text: string) => (quiet ? undefined : process.complain(text));
  try {
    let url = toUrl(target);
    for (let hops = 0; hops <= maxRedirects; hops++) {
      const shown = url.host.includes(':') ? url.host : `${url.host}:${url.protocol === 'https:' ? 443 : 80}`;
      const response = await sendHttp(process, {
        url,
        method: body === undefined ? 'GET' : 'POST',
        headers,
        body: body === undefined ? undefined : Buffer.from(body),
        insecure: insecure || url.protocol === 'https:',
        timeoutMs,
        connecting: (address, port) =>
          say(`Connecting to ${url.hostname === address ? shown : `${url.hostname} (${address}:${port})`}\n`),
      });
      const next = redirectOf(response, url);
      if (next) {
        response.resume();
        url = next;
        continue;
      }
      if (showHeaders) await process.complain(headText(response, '  '));
      if ((response.statusCode ?? 0) >= 400) {
        response.resume();
        await process.complain(
          `wget: server returned error: HTTP/${response.httpVersion} ${response.statusCode} ${response.statusMessage}\n`,
        );
        return 1;
      }
      if (spider) {
        response.resume();
        await say('remote file exists\n');
        return 0;
      }
      const name = output ?? (posix.basename(url.pathname) || 'index.html');
      const file =
        name === '-' ? process.stdout.retain() : openPath(process, absolute(process, name), 'write');
      if (name !== '-') await say(`saving to '${name}'\n`);
      for await (const chunk of response) await file.write(chunk as Buffer);
      file.release();
      if (name !== '-') await say(`'${name}' saved\n`);
      return 0;
    }
    await process.complain('wget: too many redirections\n');
    return 1;
  } catch (error) {
    process.signal.throwIfAborted();
    await process.complain(`wget: ${wgetMessage(error, toUrl(target))}\n`);
    return 1;
  }
}

function wgetMessage(error: unknown, url: URL): string {
  if (error instanceof ResolveError) return `bad address '${url.host}'`;
  switch (errorCode(error)) {
    case 'ECONNREFUSED':
      return `can't connect to remote host (${url.hostname}): Connection refused`;
    case 'EHOSTUNREACH':
      return `can't connect to remote host (${url.hostname}): No route to host`;
    case 'ETIMEDOUT':
      return 'download timed out';
    case 'ECONNRESET':
      return 'error getting response: Connection reset by peer';
    default:
      return error instanceof Error && error.message === 'timed out'
        ? 'download timed out'
        : String((error as Error).message);
  }
}
