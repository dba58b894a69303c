import { openPath } from '../files/open-path';
import type { Process } from '../kernel/process';
import { sendHttp } from '../net/http-client';
import { ResolveError } from '../net/resolver';
import { absolute } from './paths';
import { errorCode } from '../error-code';
import { addHeader, headText, redirectOf, toUrl } from './http-text';

const systemCa = '/etc/ssl/certs/ca-certificates.crt';

interface CurlOptions {
  urls: string[];
  method?: string;
  headers: Record<string, string>;
  body?: string;
  output?: string;
  flags: Set<string>;
  ca?: string;
  timeoutMs?: number;
  writeOut?: string;
}

const curlValued: Readonly<Record<string, string>> = {
  '-X': 'method',
  '--request': 'method',
  '-H': 'header',
  '--header': 'header',
  '-d': 'data',
  '--data': 'data',
  '--data-raw': 'data',
  '--data-binary': 'data',
  '-o': 'output',
  '--output': 'output',
  '--cacert': 'ca',
  '-m': 'time',
  '--max-time': 'time',
  '--connect-timeout': 'time',
  '-w': 'writeOut',
  '--write-out': 'writeOut',
  '-u': 'user',
  '--user': 'user',
  '-A': 'agent',
  '--user-agent': 'agent',
  '--retry': 'ignored',
  '--retry-delay': 'ignored',
};
const curlLong: Readonly<Record<string, string>> = {
  '--silent': 's',
  '--show-error': 'S',
  '--fail': 'f',
  '--insecure': 'k',
  '--location': 'L',
  '--include': 'i',
  '--head': 'I',
  '--verbose': 'v',
};

function parseCurl(process: Process, args: readonly string[]): CurlOptions {
  const options: CurlOptions = {
    urls: [],
    headers: { 'User-Agent': 'curl/8.14.1', Accept: '*/*' },
    flags: new Set(),
  };
  const apply = (kind: string, value: string) => {
    if (kind === 'method') options.method = value;
    else if (kind === 'header') addHeader(options.headers, value);
    else if (kind === 'data') {
      const data = value.startsWith('@')
        ? process.fs.readFile(absolute(process, value.slice(1))).toString()
        : value;
      options.body = options.body === undefined ? data : `${options.body}&${data}`;
      options.headers['Content-Type'] ??= 'application/x-www-form-urlencoded';
    } else if (kind === 'output') options.output = value;
    else if (kind === 'ca') options.ca = process.fs.readFile(absolute(process, value)).toString();
    else if (kind === 'time') options.timeoutMs = Number(value) * 1000;
    else if (kind === 'writeOut') options.writeOut = value;
    else if (kind === 'user')
      options.headers.Authorization = `Basic ${Buffer.from(value).toString('base64')}`;
    else if (kind === 'agent') options.headers['User-Agent'] = value;
  };
  for (let i = 0; i < args.length; i++) {
    const arg = args[i] ?? '';
    const kind = curlValued[arg];
    if (kind) apply(kind, args[++i] ?? '');
    else if (arg.startsWith('--')) options.flags.add(curlLong[arg] ?? arg);
    else if (arg.startsWith('-') && arg.length > 1) {
      for (let at = 1; at < arg.length; at++) {
        const valued = curlValued[`-${arg[at]}`];
        if (!valued) options.flags.add(arg[at] ?? '');
        else {
          apply(valued, arg.slice(at + 1) || (args[++i] ?? ''));
          break;
        }
      }
    } else options.urls.push(arg);
  }
  return options;
}

const curlVersion =
  'curl 8.17.0 (x86_64-pc-linux-musl) libcurl/8.17.0\nProtocols: http https\nFeatures: SSL\n';

export async function curl(process: Process): Promise<number> {
  const options = parseCurl(process, process.argv.slice(1));
  const { flags } = options;
  if (flags.has('V') || flags.has('--version')) {
    await process.print(curlVersion);
    return 0;
  }
  if (options.urls.length === 0) {
    await process.complain('curl: (2) no URL specified\n');
    return 2;
  }
  let status = 0;
  for (const text of options.urls) {
    try {
      status = await transfer(process, options, toUrl(text));
    } catch (error) {
      process.signal.throwIfAborted();
      const { code, message } = curlFailure(error, toUrl(text));
      if (!flags.has('s') || flags.has('S')) await process.complain(`curl: (${code}) ${message}\n`);
      if (options.writeOut !== undefined)
        await process.print(writeOutText(options.writeOut, '000', toUrl(text)));
      status = code;
    }
  }
  return status;
}

async function transfer(process: Process, options: CurlOptions, first: URL): Promise<number> {
  const { flags } = options;
  let url = first;
  for (let hops = 0; ; hops++) {
    const response = await sendHttp(process, {
      url,
      method: options.method ?? (flags.has('I') ? 'HEAD' : options.body === undefined ? 'GET' : 'POST'),
      headers: options.headers,
      body: options.body === undefined ? undefined : Buffer.from(options.body),
      ca: options.ca ?? (process.fs.exists(systemCa) ? process.fs.readFile(systemCa).toString() : undefined),
      insecure: flags.has('k'),
      timeoutMs: options.timeoutMs,
    });
    const next = flags.has('L') ? redirectOf(response, url) : undefined;
    if (next && hops < 50) {
      response.resume();
      url = next;
      continue;
    }
    if (flags.has('f') && (response.statusCode ?? 0) >= 400) {
      response.resume();
      if (!flags.has('s') || flags.has('S'))
        await process.complain(`curl: (22) The requested URL returned error: ${response.statusCode}\n`);
      return 22;
    }
    const file =
      options.output === undefined || options.output === '-'
        ? process.stdout.retain()
        : openPath(process, absolute(process, options.output), 'write');
    if (flags.has('i') || flags.has('I'))
      await file.write(`${headText(response, '').replaceAll('\n', '\r\n')}\r\n`);
    for await (const chunk of response) await file.write(chunk as Buffer);
    file.release();
    if (options.writeOut !== undefined)
      await process.print(writeOutText(options.writeOut, String(response.statusCode), url));
    return 0;
  }
}

const writeOutText = (format: string, code: string, url: URL): string =>
  format
    .replaceAll('%{http_code}', code)
    .replaceAll('%{response_code}', code)
    .replaceAll('%{url_effective}', url.href)
    .replaceAll('\\n', '\n');

function curlFailure(error: unknown, url: URL): { code: number; message: string } {
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  if (error instanceof ResolveError) return { code: 6, message: `Could not resolve host: ${url.hostname}` };
  const code = errorCode(error) ?? '';
  const message = error instanceof Error ? error.message : String(error);
  if (code === 'ECONNREFUSED')
    return {
      code: 7,
      message: `Failed to connect to ${url.hostname} port ${port} after 0 ms: Could not connect to server`,
    };
  if (code === 'EHOSTUNREACH')
    return { code: 7, message: `Failed to connect to ${url.hostname} port ${port}: No route to host` };
  if (code === 'ETIMEDOUT' || message === 'timed out') return { code: 28, message: 'Connection timed out' };
  if (/CERT|certificate|SELF_SIGNED|UNABLE_TO/.test(code + message))
    return { code: 60, message: `SSL certificate problem: ${message}` };
  if (code === 'ECONNRESET') return { code: 56, message: 'Recv failure: Connection reset by peer' };
  return { code: 52, message: 'Empty reply from server' };
}
