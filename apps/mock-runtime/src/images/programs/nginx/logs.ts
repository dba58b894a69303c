import { openPath } from '../../../files/open-path';
import type { OpenFile } from '../../../kernel/open-file';
import type { Process } from '../../../kernel/process';
import type { Exchange } from './exchange';
import { expand } from './variables';

const combined =
  '$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent"';

/** The master's log files, opened when the first line is written. */
export class Logs {
  private readonly files = new Map<string, OpenFile>();

  /** As the configuration says; before it is read, where the image has it. */
  errorLog = '/var/log/nginx/error.log';

  constructor(private readonly process: Process) {}

  access(exchange: Exchange): Promise<void> {
    const [path = '/var/log/nginx/access.log', name = 'combined'] = exchange.context.args('access_log') ?? [];
    if (path === 'off') return Promise.resolve();
    const format = exchange.site.configuration.http
      .all('log_format')
      .find(({ args }) => args[0] === name)
      ?.args.slice(1)
      .filter((word) => !word.startsWith('escape='))
      .join('');
    return this.write(path, `${expandForLog(format ?? combined, exchange)}\n`);
  }

  /** `2026/11/30 04:00:00 [error] 29#29: *1 … client: …, server: …, request: "…", host: "…"`. */
  error(exchange: Exchange, what: string): Promise<void> {
    const { site, client, server, request, host } = exchange;
    const pid = site.process.pid;
    const about = expand('"$request"', exchange);
    const line = `${what}, client: ${client.host}, server: ${server.names[0] ?? ''}, request: ${about}, host: "${request.headers.host ?? host}"`;
    return this.write(this.errorLog, `${this.stamp()} [error] ${pid}#${pid}: *1 ${line}\n`);
  }

  notice(line: string): Promise<void> {
    return this.tell('notice', line);
  }

  emergency(line: string): Promise<void> {
    return this.tell('emerg', line);
  }

  private tell(level: string, line: string): Promise<void> {
    const { pid } = this.process;
    return this.write(this.errorLog, `${this.stamp()} [${level}] ${pid}#${pid}: ${line}\n`);
  }

  /** `2026/11/30 04:00:00`. */
  stamp(): string {
    return new Date(this.process.clock.now())
      .toISOString()
      .replaceAll('-', '/')
      .replace('T', ' ')
      .slice(0, 19);
  }

  private async write(path: string, line: string): Promise<void> {
    let file = this.files.get(path);
    if (!file)
      this.files.set(
        path,
        (file = openPath(this.process, path === 'stderr' ? '/dev/stderr' : path, 'append')),
      );
    await file.write(line);
  }
}

/** Empty values are shown as `-`, as nginx does in logs. */
const expandForLog = (format: string, exchange: Exchange): string =>
  format.replace(/\$(?:\{\w+\}|\w+)/g, (name) => expand(name, exchange) || '-');
