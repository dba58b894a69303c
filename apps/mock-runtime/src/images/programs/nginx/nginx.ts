import { NetError } from '@tinkernetes/vnet';
import { passwdEntries } from '../../../containers/users';
import { FileError } from '../../../files/file-error';
import type { FileSystem } from '../../../files/file-system';
import type { Process } from '../../../kernel/process';
import type { SignalName } from '../../../kernel/signals';
import { serveHttps, type HttpService } from '../http-listener';
import { readConfiguration, type Configuration } from './configuration';
import { loadDirectives, NginxConfigError } from './directives';
import type { Site } from './exchange';
import { handle } from './handler';
import { Logs } from './logs';
import { secureOf, type Secure } from './tls';
import { Upstreams } from './upstreams';

const defaultFile = '/etc/nginx/nginx.conf';

/**
 * nginx by its configuration: servers, locations, rewrites, files, `try_files`, proxying, error pages, TLS, logs.
 * Source: nginx.org/en/docs, modules core, rewrite, proxy, upstream, index, autoindex, map, headers, log, access, ssl.
 */
export async function nginx(process: Process): Promise<number> {
  const version = process.env.NGINX_VERSION ?? '1.29.3';
  const { argv } = process;
  if (argv.includes('-v')) {
    await process.complain(`nginx version: nginx/${version}\n`);
    return 0;
  }
  const file = after(argv, '-c') ?? defaultFile;
  const order = after(argv, '-s');
  if (order !== undefined) return tellMaster(process, order);
  if (argv.includes('-t') || argv.includes('-T')) return test(process, file);
  const master = new Master(process, { version, file });
  try {
    await master.follow();
  } catch (error) {
    if (!(error instanceof NginxConfigError)) throw error;
    await master.logs.emergency(error.message);
    await process.complain(`nginx: [emerg] ${error.message}\n`);
    return 1;
  }
  process.onSignal('SIGHUP', () => {
    // Its log can't be written: the container's standard error is all that is left to say so, if anything is.
    master
      .reload()
      .catch((error: unknown) => process.complain(`nginx: [alert] ${String(error)}\n`))
      .catch(() => undefined);
  });
  const stopping = process.untilSignal('SIGTERM', 'SIGQUIT', 'SIGINT');
  if (!(await fork(process))) return 1;
  await stopping;
  return 0;
}

function after(argv: readonly string[], option: string): string | undefined {
  const at = argv.indexOf(option);
  return at < 0 ? undefined : (argv[at + 1] ?? '');
}

/** `nginx -t`, and `-T`, which shows the main file too. */
async function test(process: Process, file: string): Promise<number> {
  try {
    await load(process, file);
  } catch (error) {
    if (!(error instanceof NginxConfigError)) throw error;
    await process.complain(
      `nginx: [emerg] ${error.message}\nnginx: configuration file ${file} test failed\n`,
    );
    return 1;
  }
  await process.complain(
    `nginx: the configuration file ${file} syntax is ok\nnginx: configuration file ${file} test is successful\n`,
  );
  if (process.argv.includes('-T'))
    await process.print(`# configuration file ${file}:\n${process.fs.readFile(file).toString()}\n`);
  return 0;
}

/** By port: how its connections are secured, if they are. */
type Ports = ReadonlyMap<number, Secure | undefined>;

interface Loaded {
  site: Pick<Site, 'configuration' | 'upstreams'>;
  ports: Ports;
}

/** Reads a configuration and what it names. Throws NginxConfigError. */
async function load(process: Process, file: string): Promise<Loaded> {
  const configuration = readConfiguration(loadDirectives(process.fs, file));
  const ports = await portsOf(process.fs, configuration);
  const upstreams = new Upstreams(configuration);
  await upstreams.resolve(process);
  return { site: { configuration, upstreams }, ports };
}

async function portsOf(fs: FileSystem, { servers }: Configuration): Promise<Ports> {
  const ports = new Map<number, Secure | undefined>();
  for (const server of servers) {
    const secure = await secureOf(fs, server);
    for (const { port, isTls } of server.listens)
      if (!ports.has(port)) ports.set(port, isTls ? secure : undefined);
  }
  return ports;
}

/** The ports that the configuration names; they change with it. */
class Master {
  readonly logs: Logs;
  private readonly open = new Map<number, HttpService>();
  private site: Site | undefined;
  private ports: Ports = new Map();

  constructor(
    private readonly process: Process,
    private readonly options: { version: string; file: string },
  ) {
    this.logs = new Logs(process);
  }

  /** Takes the configuration. Throws NginxConfigError, also for a port that somebody else has. */
  async follow(): Promise<void> {
    const { process, logs } = this;
    const { version, file } = this.options;
    const { site, ports } = await load(process, file);
    const isFirst = this.site === undefined;
    logs.errorLog = site.configuration.http.value('error_log') ?? '/var/log/nginx/error.log';
    this.site = { process, version, logs, ...site };
    this.ports = ports;
    for (const [port, service] of this.open) {
      if (ports.has(port)) continue;
      service.close();
      this.open.delete(port);
    }
    for (const port of ports.keys()) if (!this.open.has(port)) this.listen(port);
    if (isFirst) await this.greet();
  }

  /** A faulty configuration leaves the old one in force. */
  async reload(): Promise<void> {
    await this.logs.notice('signal 1 (SIGHUP) received, reconfiguring');
    try {
      await this.follow();
    } catch (error) {
      await this.logs.emergency((error as Error).message);
    }
  }

  /** What its connections are answered with, and by which certificate, may change while it is open. */
  private listen(port: number): void {
    try {
      const service = serveHttps(this.process, {
        upgrades: true,
        port,
        secure: (stream) => this.ports.get(port)?.(stream) ?? stream,
        handle: async (request, response, client) => {
          if (this.site) await handle(this.site, { request, response, client, port });
        },
      });
      this.open.set(port, service);
    } catch (error) {
      if (!(error instanceof NetError)) throw error;
      throw new NginxConfigError(`bind() to 0.0.0.0:${port} failed (98: Address already in use)`);
    }
  }

  private async greet(): Promise<void> {
    const lines = [
      'using the "epoll" event method',
      `nginx/${this.options.version}`,
      'built by gcc 14.2.0 (Debian 14.2.0-19)',
      'OS: Linux 6.1.0',
      'getrlimit(RLIMIT_NOFILE): 1048576:1048576',
      'start worker processes',
    ];
    for (const line of lines) await this.logs.notice(line);
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

function pidFileOf(fs: FileSystem): string {
  const text = fs.exists(defaultFile) ? fs.readFile(defaultFile).toString() : '';
  return /^\s*pid\s+([^\s;]+)\s*;/m.exec(text)?.[1] ?? '/run/nginx.pid';
}

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
