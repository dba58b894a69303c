import { isIPv4 } from 'node:net';
import { withLinkedSignal } from '@tinkernetes/component-base';
import type { Answer, Packet as DnsPacket, RecordType } from 'dns-packet';
import type { FileSystem } from '../files/file-system';
import type { Process } from '../kernel/process';

export interface ResolverConfig {
  nameservers: string[];
  search: string[];
  ndots: number;
}

/** The name doesn't exist, or nobody answered (resolver(3)'s herror). */
export class ResolveError extends Error {
  override readonly name = 'ResolveError';

  constructor(
    readonly reason: 'NXDOMAIN' | 'SERVFAIL' | 'TIMEOUT' | 'NOSERVER',
    readonly host: string,
  ) {
    super(`${reason} ${host}`);
  }
}

const timeoutMs = 2500;
const attempts = 2;

/** /etc/resolv.conf as the C library reads it. */
export function readResolvConf(fs: FileSystem): ResolverConfig {
  const config: ResolverConfig = { nameservers: [], search: [], ndots: 1 };
  if (!fs.exists('/etc/resolv.conf')) return config;
  for (const line of fs.readFile('/etc/resolv.conf').toString().split('\n')) {
    const [key, ...values] = line.trim().split(/\s+/);
    if (key === 'nameserver' && values[0]) config.nameservers.push(values[0]);
    if (key === 'search') config.search = values;
    if (key === 'options')
      for (const option of values) if (option.startsWith('ndots:')) config.ndots = Number(option.slice(6));
  }
  return config;
}

/** An address for a host: literal, /etc/hosts, then DNS with the search list. */
export async function resolveHost(process: Process, host: string): Promise<string> {
  if (isIPv4(host)) return host;
  const local = fromHostsFile(process.fs, host);
  if (local) return local;
  if (host === 'localhost') return '127.0.0.1';
  const { addresses } = await lookup(process, host);
  const [first] = addresses;
  if (!first) throw new ResolveError('NXDOMAIN', host);
  return first;
}

function fromHostsFile(fs: FileSystem, host: string): string | undefined {
  if (!fs.exists('/etc/hosts')) return undefined;
  for (const line of fs.readFile('/etc/hosts').toString().split('\n')) {
    const [address = '', ...names] = (line.split('#')[0] ?? '').trim().split(/\s+/);
    if (isIPv4(address) && names.includes(host)) return address;
  }
  return undefined;
}

/** The names that are tried, in order: few dots mean the search list first. */
export function candidates(host: string, { search, ndots }: ResolverConfig): string[] {
  if (host.endsWith('.')) return [host.slice(0, -1)];
  const dots = host.split('.').length - 1;
  const searched = search.map((domain) => `${host}.${domain}`);
  return dots >= ndots ? [host, ...searched] : [...searched, host];
}

export interface LookupResult {
  name: string;
  addresses: string[];
  server: string;
}

/** All IPv4 addresses of a name by DNS. Rejects with ResolveError. */
export async function lookup(process: Process, host: string, server?: string): Promise<LookupResult> {
  const config = readResolvConf(process.fs);
  let failure = new ResolveError(config.nameservers.length > 0 ? 'NXDOMAIN' : 'NOSERVER', host);
  for (const name of candidates(host, config)) {
    for (const nameserver of server ? [server] : config.nameservers) {
      const answer = await query(process, { name, type: 'A', server: nameserver });
      if (answer === undefined) {
        failure = new ResolveError('TIMEOUT', host);
        continue;
      }
      const addresses = answers(answer).flatMap((a) => (a.type === 'A' ? [a.data] : []));
      if (addresses.length > 0) return { name, addresses, server: nameserver };
      const code = (answer as { rcode?: string }).rcode;
      if (code === 'SERVFAIL') failure = new ResolveError('SERVFAIL', host);
      break;
    }
  }
  throw failure;
}

export interface DnsQuestion {
  name: string;
  type: RecordType;
  server: string;
}

export const answers = (packet: DnsPacket): Answer[] => packet.answers ?? [];

/** One question over UDP; undefined when nobody answers in time. */
export async function query(
  process: Process,
  { name, type, server }: DnsQuestion,
): Promise<DnsPacket | undefined> {
  const { decode, encode, RECURSION_DESIRED } = await import('dns-packet');
  const id = Math.floor(process.machine.random.next() * 65_536);
  const question = encode({ type: 'query', id, flags: RECURSION_DESIRED, questions: [{ type, name }] });
  let received: (packet: DnsPacket) => void = () => undefined;
  const socket = process.net.bindUdp({ port: 0 }, ({ data }) => {
    let packet: DnsPacket;
    try {
      packet = decode(Buffer.from(data));
    } catch {
      // Anybody may send anything here: what is no answer is not waited for.
      return;
    }
    if (packet.id === id) received(packet);
  });
  try {
    for (let attempt = 0; attempt < attempts; attempt++) {
      const waiting = new AbortController();
      const answer = new Promise<DnsPacket>((resolve) => {
        received = resolve;
      });
      socket.send(question, { host: server, port: 53 });
      const late = withLinkedSignal([waiting.signal, process.signal], (ended) =>
        process.clock.sleep(timeoutMs, ended),
      ).then(
        () => undefined,
        () => undefined,
      );
      const first = await Promise.race([answer, late]);
      waiting.abort(new Error('answered'));
      process.signal.throwIfAborted();
      if (first) return first;
    }
    return undefined;
  } finally {
    socket.close();
  }
}
