import type { IncomingMessage, ServerResponse } from 'node:http';
import { posix } from 'node:path';
import type { Address } from '@tinkernetes/vnet';
import { NetError } from '@tinkernetes/vnet';
import { passwdEntries } from '../../containers/users';
import { FileError } from '../../files/file-error';
import type { FileSystem } from '../../files/file-system';
import type { Process } from '../../kernel/process';
import type { SignalName } from '../../kernel/signals';
import { serveHttp, type HttpService } from './http-listener';
import { defaultConfiguration, parseNginxConfig, type NginxLocation, type NginxServer } from './nginx-config';

const contentTypes: Record<string, string> = {
  '.html': 'text/html',
  '.css': 'text/css',
  '.js': 'application/javascript',
  '.json': 'application/json',
  '.txt': 'text/plain',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
};

/** nginx as far as Pods use it: server blocks, roots, index files, `return`, access log. */
export async function nginx(process: Process): Promise<number> {
  const version = process.env.NGINX_VERSION ?? '1.29.3';
  if (process.argv.includes('-v')) {
    await process.complain(`nginx version: nginx/${version}\n`);
    return 0;
  }
  const order = process.argv.indexOf('-s');
  if (order > 0) return tellMaster(process, process.argv[order + 1] ?? '');
  if (process.argv.includes('-t')) {
    await process.complain(
      'nginx: the configuration file /etc/nginx/nginx.conf syntax is ok\nnginx: configuration file /etc/nginx/nginx.conf test is successful\n',
    );
    return 0;
  }
  await banner(process, version);
  const listeners = new Listeners(process, version);
  const taken = listeners.follow(readServers(process.fs));
  if (taken !== undefined) {
    await process.complain(`nginx: [emerg] bind() to 0.0.0.0:${taken} failed (98: Address already in use)\n`);
    return 1;
  }
  process.onSignal('SIGHUP', () => void listeners.follow(readServers(process.fs)));
  const stopping = process.untilSignal('SIGTERM', 'SIGQUIT', 'SIGINT');
  if (!(await fork(process))) return 1;
  await stopping;
  return 0;
}

/** The ports that the configuration names, each with its servers; they change with it. */
class Listeners {
  private readonly open = new Map<number, HttpService>();
  private servers = new Map<number, NginxServer[]>();

  constructor(
    private readonly process: Process,
    private readonly version: string,
  ) {}

  /** Listens as the servers want; the first port that somebody else has, which ends a start and not a reload. */
  follow(servers: readonly NginxServer[]): number | undefined {
    this.servers = new Map();
    for (const server of servers)
      for (const port of server.ports) this.servers.set(port, [...(this.servers.get(port) ?? []), server]);
    for (const [port, service] of this.open) {
      if (this.servers.has(port)) continue;
      service.close();
      this.open.delete(port);
    }
    for (const port of this.servers.keys()) {
      if (this.open.has(port)) continue;
      try {
        this.open.set(port, this.listen(port));
      } catch (error) {
        if (!(error instanceof NetError)) throw error;
        return port;
      }
    }
    return undefined;
  }

  private listen(port: number): HttpService {
    const { process, version } = this;
    return serveHttp(process, port, (request, response, client) =>
      answer({ process, list: this.servers.get(port) ?? [], version, request, response, client }),
    );
  }
}

const orders: Readonly<Record<string, SignalName>> = {
  stop: 'SIGTERM',
  quit: 'SIGQUIT',
  reload: 'SIGHUP',
  reopen: 'SIGUSR1',
};

/** `nginx -s reload`: a signal to the master that runs. */
async function tellMaster(process: Process, order: string): Promise<number> {
  const signal = orders[order];
  if (!signal) {
    await process.complain(`nginx: invalid option: "-s ${order}"\n`);
    return 1;
  }
  const file = pidFileOf(process.fs);
  const pid = process.fs.exists(file) ? Number(process.fs.readFile(file).toString()) : NaN;
  const master = process.machine.table.get(pid);
  if (!master) {
    await process.complain(`nginx: [error] open() "${file}" failed (2: No such file or directory)\n`);
    return 1;
  }
  master.kill(signal);
  return 0;
}

const pidFileOf = (fs: FileSystem): string =>
  /^\s*pid\s+([^\s;]+)\s*;/m.exec(mainConfig(fs))?.[1] ?? '/run/nginx.pid';

/** The master's title and pid file, and a worker, as other processes see them. The master does the work of both. */
async function fork(process: Process): Promise<boolean> {
  const { fs, pid, argv } = process;
  const pidFile = pidFileOf(fs);
  try {
    fs.writeFile(pidFile, Buffer.from(`${pid}\n`));
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    await process.complain(`nginx: [emerg] open() "${pidFile}" failed (${error.message})\n`);
    return false;
  }
  process.argv = [`nginx: master process ${argv.join(' ')}`];
  const entry = passwdEntries(fs).find(({ name }) => name === 'nginx');
  const user = entry ? { uid: entry.uid, gid: entry.gid, groups: [entry.gid] } : process.user;
  const worker = process.fork({ argv: ['nginx: worker process'], user });
  worker.comm = process.comm;
  void worker.run(() => new Promise<number>(() => undefined));
  process.signal.addEventListener('abort', () => worker.kill('SIGKILL'), { once: true });
  return true;
}

const mainConfig = (fs: FileSystem): string =>
  fs.exists('/etc/nginx/nginx.conf') ? fs.readFile('/etc/nginx/nginx.conf').toString() : '';

function readServers(fs: FileSystem): NginxServer[] {
  const main = mainConfig(fs);
  const dir = '/etc/nginx/conf.d';
  const included = fs.isDirectory(dir)
    ? fs
        .readdir(dir)
        .filter((name) => name.endsWith('.conf'))
        .map((name) => fs.readFile(posix.join(dir, name)).toString())
    : [];
  const servers = parseNginxConfig(
    [main, ...(main === '' || main.includes('conf.d') ? included : [])].join('\n'),
  );
  return servers.length > 0 ? servers : main === '' ? parseNginxConfig(defaultConfiguration) : [];
}

async function banner(process: Process, version: string): Promise<void> {
  const time = new Date(process.clock.now())
    .toISOString()
    .replaceAll('-', '/')
    .replace('T', ' ')
    .slice(0, 19);
  const lines = [
    `nginx/${version}`,
    'built by gcc 14.2.0 (Debian 14.2.0-19)',
    'OS: Linux 6.1.0',
    'getrlimit(RLIMIT_NOFILE): 1048576:1048576',
    'start worker processes',
  ];
  await process.complain(lines.map((line) => `${time} [notice] 1#1: ${line}\n`).join(''));
}

interface Exchange {
  process: Process;
  list: readonly NginxServer[];
  version: string;
  request: IncomingMessage;
  response: ServerResponse;
  client: Address;
}

function answer({ process, list, version, request, response, client }: Exchange): void {
  const host = (request.headers.host ?? '').split(':')[0] ?? '';
  const server = list.find((s) => s.names.includes(host)) ?? list[0];
  const path = decodeURIComponent((request.url ?? '/').split('?')[0] ?? '/');
  const location = bestLocation(server, path);
  const { status, headers, body } = respond({
    fs: process.fs,
    method: request.method ?? 'GET',
    server,
    location,
    path,
    version,
    host,
  });
  response.writeHead(status, { Server: `nginx/${version}`, ...headers, 'Content-Length': body.length });
  response.end(request.method === 'HEAD' ? undefined : body);
  const line = `${client.host} - - [${logTime(process.clock.now())}] "${request.method} ${request.url} HTTP/${request.httpVersion}" ${status} ${body.length} "${request.headers.referer ?? '-'}" "${request.headers['user-agent'] ?? '-'}" "-"\n`;
  process.print(line).catch(() => response.destroy());
}

function bestLocation(server: NginxServer | undefined, path: string): NginxLocation | undefined {
  const locations = server?.locations ?? [];
  return (
    locations.find((l) => l.exact && l.path === path) ??
    locations
      .filter((l) => !l.exact && path.startsWith(l.path))
      .sort((a, b) => b.path.length - a.path.length)[0]
  );
}

interface Asked {
  fs: FileSystem;
  method: string;
  server: NginxServer | undefined;
  location: NginxLocation | undefined;
  path: string;
  version: string;
  host: string;
}

function respond({ fs, method, server, location, path, version, host }: Asked) {
  const fixed = location?.returns ?? server?.returns;
  if (fixed) {
    const redirect = fixed.status >= 300 && fixed.status < 400;
    const text = fixed.text.replaceAll('$host', host).replaceAll('$request_uri', path);
    if (redirect) return errorPage(fixed.status, version, { Location: text });
    return {
      status: fixed.status,
      headers: { 'Content-Type': location?.defaultType ?? server?.defaultType ?? 'application/octet-stream' },
      body: Buffer.from(text),
    };
  }
  if (method !== 'GET' && method !== 'HEAD') return errorPage(405, version);
  const root = location?.alias ?? location?.root ?? server?.root ?? '/etc/nginx/html';
  const relative = location?.alias ? path.slice(location.path.length) : path;
  const file = posix.join(root, posix.normalize(`/${relative}`));
  if (fs.isDirectory(file)) {
    if (!path.endsWith('/')) return errorPage(301, version, { Location: `${path}/` });
    const index = (location?.index ?? server?.index ?? ['index.html'])
      .map((name) => posix.join(file, name))
      .find((f) => fs.exists(f));
    return index ? found(fs, index) : errorPage(403, version);
  }
  return fs.exists(file) ? found(fs, file) : errorPage(404, version);
}

function found(fs: FileSystem, file: string) {
  const body = fs.readFile(file);
  const { mtime } = fs.stat(file);
  return {
    status: 200,
    headers: {
      'Content-Type': contentTypes[posix.extname(file)] ?? 'application/octet-stream',
      'Last-Modified': new Date(mtime).toUTCString(),
      ETag: `"${Math.floor(mtime / 1000).toString(16)}-${body.length.toString(16)}"`,
      'Accept-Ranges': 'bytes',
    },
    body,
  };
}

const reasons: Record<number, string> = {
  301: 'Moved Permanently',
  302: 'Found',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Not Allowed',
};

function errorPage(status: number, version: string, headers: Record<string, string> = {}) {
  const title = `${status} ${reasons[status] ?? 'Error'}`;
  const body = [
    '<html>',
    `<head><title>${title}</title></head>`,
    '<body>',
    `<center><h1>${title}</h1></center>`,
    `<hr><center>nginx/${version}</center>`,
    '</body>',
    '</html>',
    '',
  ].join('\r\n');
  return { status, headers: { 'Content-Type': 'text/html', ...headers }, body: Buffer.from(body) };
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** `29/Nov/2026:17:14:34 +0000`. */
export function logTime(ms: number): string {
  const date = new Date(ms);
  const day = String(date.getUTCDate()).padStart(2, '0');
  return `${day}/${months[date.getUTCMonth()]}/${date.getUTCFullYear()}:${date.toISOString().slice(11, 19)} +0000`;
}
