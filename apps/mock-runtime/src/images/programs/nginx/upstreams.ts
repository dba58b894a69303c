import { isIPv4 } from 'node:net';
import type { Address } from '@tinkernetes/vnet';
import type { Process } from '../../../kernel/process';
import { ResolveError, resolveHost } from '../../../net/resolver';
import type { Configuration } from './configuration';
import { NginxConfigError, type Directive } from './directives';

/** The servers behind each `upstream`, whose names nginx looks up once, when it reads its configuration. */
export class Upstreams {
  private readonly addresses = new Map<string, string>();
  private readonly turns = new Map<string, number>();

  constructor(private readonly configuration: Configuration) {}

  /** Looks up all names of the configuration. Throws NginxConfigError for one that doesn't exist. */
  async resolve(process: Process): Promise<void> {
    const { directives } = this.configuration.http;
    for (const { host, message } of hostsIn(directives)) await this.remember(process, host, message);
  }

  private async remember(process: Process, host: string, message: string): Promise<void> {
    if (isIPv4(host) || this.addresses.has(host)) return;
    try {
      this.addresses.set(host, await resolveHost(process, host));
    } catch (error) {
      if (!(error instanceof ResolveError)) throw error;
      throw new NginxConfigError(message);
    }
  }

  /** The addresses to try for an authority, best first; undefined for a host that no lookup at the start found. */
  targets(host: string, port: number): Address[] | undefined {
    const upstream = this.configuration.upstreams.get(host);
    if (!upstream) {
      const address = isIPv4(host) ? host : this.addresses.get(host);
      return address === undefined ? undefined : [{ host: address, port }];
    }
    const regular = upstream.servers.filter(({ isBackup }) => !isBackup);
    const turns = regular.flatMap((server) => Array<typeof server>(server.weight).fill(server));
    const turn = this.turns.get(host) ?? 0;
    this.turns.set(host, turn + 1);
    const first = turn % Math.max(1, turns.length);
    const ordered = [
      ...turns.slice(first),
      ...turns.slice(0, first),
      ...upstream.servers.filter((s) => s.isBackup),
    ];
    return [...new Set(ordered)].map((server) => ({
      host: this.addresses.get(server.host) ?? server.host,
      port: server.port,
    }));
  }
}

/** Every host that the configuration names, with what is said when it doesn't exist. */
function* hostsIn(directives: readonly Directive[]): Generator<{ host: string; message: string }> {
  const upstreams = new Set(directives.filter(({ name }) => name === 'upstream').map(({ args }) => args[0]));
  for (const { name, args, place, host } of namesIn(directives)) {
    if (name === 'proxy_pass' && (upstreams.has(host) || args[0]?.includes('$'))) continue;
    yield { host, message: `host not found in upstream "${host}" in ${place}` };
  }
}

function* namesIn(directives: readonly Directive[]): Generator<Directive & { host: string }> {
  for (const directive of directives) {
    if (directive.name === 'proxy_pass')
      yield { ...directive, host: authorityOf(directive.args[0] ?? '').host };
    if (directive.name === 'upstream')
      for (const line of directive.block ?? [])
        if (line.name === 'server') yield { ...line, host: line.args[0]?.split(':')[0] ?? '' };
    yield* namesIn(directive.name === 'upstream' ? [] : (directive.block ?? []));
  }
}

/** `http://host:port/path` in its parts; the path is undefined where there is none, which is not `/`. */
export function authorityOf(url: string): {
  scheme: string;
  host: string;
  port: number;
  path: string | undefined;
} {
  const [, scheme = 'http', host = '', port, path] =
    /^(https?):\/\/([^/:]*)(?::(\d+))?(\/[\s\S]*)?$/.exec(url) ?? [];
  return { scheme, host, port: Number(port ?? (scheme === 'https' ? 443 : 80)), path };
}
