import { NginxConfigError, type Directive } from './directives';

/** A block with those around it: what a directive's value is there. */
export class Context {
  constructor(
    readonly directives: readonly Directive[],
    readonly outer?: Context,
  ) {}

  /** The directives of a name in the nearest block that has any: they replace those of outer blocks. */
  all(name: string): readonly Directive[] {
    const own = this.directives.filter((directive) => directive.name === name);
    return own.length > 0 ? own : (this.outer?.all(name) ?? []);
  }

  own(name: string): Directive | undefined {
    return this.directives.find((directive) => directive.name === name);
  }

  args(name: string): readonly string[] | undefined {
    return this.all(name)[0]?.args;
  }

  value(name: string): string | undefined {
    return this.args(name)?.[0];
  }
}

export interface Location {
  modifier: '' | '=' | '^~' | '~' | '~*' | '@';
  /** The prefix, or the name behind `@`. */
  path: string;
  regex?: RegExp;
  context: Context;
  locations: readonly Location[];
}

export interface Listen {
  port: number;
  isTls: boolean;
  isDefault: boolean;
}

export interface Server {
  listens: readonly Listen[];
  names: readonly string[];
  context: Context;
  locations: readonly Location[];
}

export interface Upstream {
  name: string;
  servers: readonly UpstreamServer[];
}

export interface UpstreamServer {
  host: string;
  port: number;
  weight: number;
  isBackup: boolean;
}

export interface Configuration {
  main: Context;
  http: Context;
  servers: readonly Server[];
  upstreams: ReadonlyMap<string, Upstream>;
}

/** What the blocks of a configuration say. Throws NginxConfigError. */
export function readConfiguration(directives: readonly Directive[]): Configuration {
  const main = new Context(directives);
  if (!main.own('events')) throw new NginxConfigError('no "events" section in configuration');
  const http = new Context(main.own('http')?.block ?? [], main);
  const blocksOf = (name: string) => http.directives.filter((directive) => directive.name === name);
  return {
    main,
    http,
    servers: blocksOf('server').map((server) => toServer(server, http)),
    upstreams: new Map(
      blocksOf('upstream').map((upstream) => [upstream.args[0] ?? '', toUpstream(upstream)]),
    ),
  };
}

function toServer({ block = [] }: Directive, http: Context): Server {
  const context = new Context(block, http);
  const listens = block.filter(({ name }) => name === 'listen').flatMap(toListen);
  return {
    listens: listens.length > 0 ? listens : [{ port: 80, isTls: false, isDefault: false }],
    names: block.filter(({ name }) => name === 'server_name').flatMap(({ args }) => args),
    context,
    locations: locationsIn(context),
  };
}

/** Addresses of IPv6 are left out: the emulated network has none. */
function toListen({ args: [address = '', ...options], place }: Directive): Listen[] {
  if (address.startsWith('[') || address.startsWith('unix:')) return [];
  const port = /^\d+$/.test(address) ? Number(address) : Number(/:(\d+)$/.exec(address)?.[1] ?? 80);
  if (port < 1 || port > 65535)
    throw new NginxConfigError(`invalid port in "${address}" of the "listen" directive in ${place}`);
  return [{ port, isTls: options.includes('ssl'), isDefault: options.includes('default_server') }];
}

function locationsIn(context: Context): Location[] {
  return context.directives
    .filter(({ name }) => name === 'location')
    .map((found) => toLocation(found, context));
}

function toLocation({ args, block = [], place }: Directive, outer: Context): Location {
  const context = new Context(block, outer);
  const parsed = args.length > 1 ? args : splitModifier(args[0] ?? '');
  const [modifier = '', path = ''] = parsed;
  const locations = locationsIn(context);
  switch (modifier) {
    case '~':
    case '~*':
      return { modifier, path, regex: regexOf(path, modifier === '~*', place), context, locations };
    case '':
    case '=':
    case '^~':
    case '@':
      return { modifier, path, context, locations };
    default:
      throw new NginxConfigError(`invalid location modifier "${modifier}" in ${place}`);
  }
}

/** `location =/x` is written without a space now and then. */
function splitModifier(text: string): [string, string] {
  const [, modifier = '', path = ''] = /^(=|\^~|~\*|~|@)?([\s\S]*)$/.exec(text) ?? [];
  return [modifier, path];
}

/** Perl's regular expressions are near enough to ours; `(?<name>…)` is the same. */
export function regexOf(source: string, ignoresCase: boolean, place: string): RegExp {
  try {
    return new RegExp(source.replace(/\(\?P</g, '(?<'), ignoresCase ? 'i' : '');
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new NginxConfigError(`pcre2_compile() failed: ${error.message} in "${source}" in ${place}`);
  }
}

function toUpstream({ args: [name = ''], block = [], place }: Directive): Upstream {
  const servers = block
    .filter((line) => line.name === 'server' && !line.args.includes('down'))
    .map(({ args: [address = '', ...options] }): UpstreamServer => {
      const [host = '', port = '80'] = address.split(':');
      const weight = options.find((option) => option.startsWith('weight='))?.slice(7);
      return { host, port: Number(port), weight: Number(weight ?? 1), isBackup: options.includes('backup') };
    });
  if (servers.length === 0) throw new NginxConfigError(`no servers are inside upstream in ${place}`);
  return { name, servers };
}

/** The server of a port that has the name; else the port's default, which is its first unless one says so. */
export function serverFor(servers: readonly Server[], port: number, host: string): Server | undefined {
  const onPort = servers.filter(({ listens }) => listens.some((listen) => listen.port === port));
  const byName =
    onPort.find(({ names }) => names.includes(host)) ??
    onPort.find(({ names }) => names.some((name) => matchesWildcard(name, host)));
  const isDefault = ({ listens }: Server) =>
    listens.some((listen) => listen.port === port && listen.isDefault);
  return byName ?? onPort.find(isDefault) ?? onPort[0];
}

function matchesWildcard(name: string, host: string): boolean {
  if (name.startsWith('~')) return regexOf(name.slice(1), false, name).test(host);
  if (name.startsWith('*.')) return host.endsWith(name.slice(1));
  if (name.startsWith('.')) return host === name.slice(1) || host.endsWith(name);
  return name.endsWith('.*') && host.startsWith(name.slice(0, -1));
}

export interface Chosen {
  location: Location;
  /** Of a regular expression. */
  match?: RegExpExecArray;
}

/**
 * The location of a path: an exact one; else the longest prefix, unless a regular expression matches, the first of which
 * wins. Source: ngx_http_core_module, `location`.
 */
export function locationFor(locations: readonly Location[], path: string): Chosen | undefined {
  const exact = locations.find(({ modifier, path: own }) => modifier === '=' && own === path);
  if (exact) return { location: exact };
  const prefix = locations
    .filter(({ modifier, path: own }) => (modifier === '' || modifier === '^~') && path.startsWith(own))
    .sort((a, b) => b.path.length - a.path.length)[0];
  const inner = prefix ? locationFor(prefix.locations, path) : undefined;
  if (inner) return inner;
  if (prefix?.modifier !== '^~')
    for (const location of locations) {
      const match = location.regex?.exec(path);
      if (match) return locationFor(location.locations, path) ?? { location, match };
    }
  return prefix ? { location: prefix } : undefined;
}
