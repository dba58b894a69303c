/** redis' settings: defaults, then its file, then `--name value`; CONFIG reads and changes them. */

const defaults: Readonly<Record<string, string>> = {
  appendonly: 'no',
  bind: '* -::*',
  databases: '16',
  dbfilename: 'dump.rdb',
  dir: '/data',
  loglevel: 'notice',
  masterauth: '',
  maxclients: '10000',
  maxmemory: '0',
  'maxmemory-policy': 'noeviction',
  port: '6379',
  replicaof: '',
  requirepass: '',
  save: '3600 1 300 100 60 10000',
  timeout: '0',
};

const units: Readonly<Record<string, number>> = {
  b: 1,
  k: 1000,
  kb: 1024,
  m: 1000 ** 2,
  mb: 1024 ** 2,
  g: 1000 ** 3,
  gb: 1024 ** 3,
};

const policies = [
  'noeviction',
  'allkeys-lru',
  'allkeys-lfu',
  'allkeys-random',
  'volatile-lru',
  'volatile-lfu',
  'volatile-random',
  'volatile-ttl',
];

export class RedisConfig {
  private readonly values = new Map(Object.entries(defaults));

  /** `text`: a redis.conf; `args`: the command line's. */
  constructor(text: string, args: readonly string[]) {
    for (const line of text.split('\n')) {
      const [name = '', ...rest] = line.trim().split(/\s+/);
      if (name !== '' && !name.startsWith('#')) this.put(name, rest.join(' '));
    }
    for (const [index, arg] of args.entries())
      if (arg.startsWith('--')) this.put(arg.slice(2), optionValue(args, index));
  }

  get(name: string): string {
    return this.values.get(name) ?? '';
  }

  /** The settings whose names match a pattern with `*`, each name followed by its value. */
  matching(pattern: string): string[] {
    const expression = new RegExp(
      `^${pattern
        .toLowerCase()
        .replace(/[.+^${}()|\\]/g, '\\$&')
        .replaceAll('*', '.*')}$`,
    );
    return [...this.values].filter(([name]) => expression.test(name)).flat();
  }

  /** Why it can't be set; undefined: it is. */
  set(name: string, value: string): string | undefined {
    if (!this.values.has(name.toLowerCase()))
      return `ERR Unknown option or number of arguments for CONFIG SET - '${name}'`;
    if (name.toLowerCase() === 'maxmemory-policy' && !policies.includes(value))
      return `ERR CONFIG SET failed (possibly related to argument '${name}') - argument(s) must be one of the following: ${policies.join(', ')}`;
    this.put(name, value);
    return undefined;
  }

  private put(name: string, value: string): void {
    // Its older name.
    const key = name.toLowerCase().replace(/^slaveof$/, 'replicaof');
    this.values.set(key, key === 'maxmemory' ? bytesOf(value) : value.replace(/^"(.*)"$/, '$1'));
  }
}

/** All up to the next option. */
function optionValue(args: readonly string[], at: number): string {
  const rest = args.slice(at + 1);
  const end = rest.findIndex((arg) => arg.startsWith('--'));
  return rest.slice(0, end < 0 ? undefined : end).join(' ');
}

/** `2mb` as redis shows it: in bytes. */
function bytesOf(text: string): string {
  const [, number = '0', unit = ''] = /^(\d+)([a-z]*)$/i.exec(text) ?? [];
  return String(Number(number) * (units[unit.toLowerCase() || 'b'] ?? 1));
}
