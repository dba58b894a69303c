import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { CniError, cniErrorCode, cniVersion, type CniResult } from '../types';
import { definePlugin, type PluginCall } from '../plugin';
import { firstAddress, formatIPv4, lastAddress, parseIPv4, parseRange } from './ip-range';
import { errorCode } from '../error-code';

interface Range {
  subnet: string;
  rangeStart?: string;
  rangeEnd?: string;
  gateway?: string;
}

interface HostLocalConfig {
  type: string;
  dataDir?: string;
  ranges?: Range[][];
  subnet?: string;
  rangeStart?: string;
  rangeEnd?: string;
  gateway?: string;
  routes?: { dst: string; gw?: string }[];
}

const longestAddress = '255.255.255.255'.length;
const defaultDataDir = '/var/lib/cni/networks';

/**
 * IPAM from the node's own range; each address is a file named after it, holding its container and interface, so that
 * allocations survive restarts (containernetworking/plugins, host-local).
 */
export const hostLocal = definePlugin({
  async add(call) {
    const { config, dir } = open(call);
    const owner = ownerOf(call);
    const ips = rangesOf(config).map((set, index) => allocate({ dir, index, set, owner }));
    const result: CniResult = { cniVersion, ips, routes: config.routes ?? [], dns: {} };
    return result;
  },

  async del(call) {
    const { dir } = open(call);
    const owner = ownerOf(call);
    // What ADD gave is the first place to look at; a runtime that has lost it costs a look at all of them.
    const given = (call.config.prevResult?.ips ?? []).map(({ address }) => address.split('/')[0] ?? '');
    const released = given.map((address) => releaseOne(join(dir, address), owner));
    if (released.length === 0 || released.includes(false)) releaseWhere(dir, (h) => h === owner);
  },

  async check(call) {
    const { dir } = open(call);
    const owner = ownerOf(call);
    let found = false;
    for (const [, holder] of reservations(dir)) if (holder === owner) found = true;
    if (!found)
      throw new CniError(
        cniErrorCode.internal,
        `host-local: Failed to find address added by container ${call.containerId}`,
      );
  },

  async gc(call) {
    const { dir } = open(call);
    const valid = new Set(
      (call.config['cni.dev/valid-attachments'] ?? []).map((a) => `${a.containerID}\r\n${a.ifname}`),
    );
    releaseWhere(dir, (holder) => !valid.has(holder));
  },
});

function open({ config }: PluginCall): { config: HostLocalConfig; dir: string } {
  const ipam = config.ipam as HostLocalConfig | undefined;
  if (!ipam) throw new CniError(cniErrorCode.invalidNetworkConfig, "IPAM config missing 'ipam' key");
  return { config: ipam, dir: join(ipam.dataDir ?? defaultDataDir, config.name) };
}

const ownerOf = ({ containerId, ifname }: PluginCall): string => `${containerId}\r\n${ifname}`;

function rangesOf({ ranges, subnet, rangeStart, rangeEnd, gateway }: HostLocalConfig): Range[][] {
  if (ranges && ranges.length > 0) return ranges;
  if (subnet) return [[{ subnet, rangeStart, rangeEnd, gateway }]];
  throw new CniError(cniErrorCode.invalidNetworkConfig, 'no IP ranges specified');
}

interface AllocationRequest {
  dir: string;
  index: number;
  set: readonly Range[];
  owner: string;
}

/**
 * One allocation after the other: these small files are read and written in one go, since an allocation that waits starts
 * from the same last address as those that come meanwhile (upstream locks a file).
 */
function allocate({ dir, index, set, owner }: AllocationRequest) {
  const marker = join(dir, `last_reserved_ip.${index}`);
  const last = parseIPv4(readOptional(marker));
  for (const { address: value, range } of candidates(set, last)) {
    const address = formatIPv4(value);
    if (address === range.gateway || !reserve(join(dir, address), owner)) continue;
    mark(marker, address);
    return { address: `${address}/${range.prefix}`, gateway: range.gateway };
  }
  const names = set.map((r) => {
    const subnet = parseRange(r.subnet);
    return subnet ? `${formatIPv4(firstAddress(subnet))}-${formatIPv4(lastAddress(subnet))}` : r.subnet;
  });
  throw new CniError(
    cniErrorCode.internal,
    `failed to allocate for range ${index}: no IP addresses available in range set: ${names.join(',')}`,
  );
}

interface ParsedRange {
  first: number;
  end: number;
  gateway: string;
  prefix: number;
}

/** A runtime that a thousand nodes share has the ranges of all of them, and looks through them for each Pod. */
const parsed = new Map<string, ParsedRange>();
const mostParsed = 4096;

function parse(range: Range): ParsedRange {
  const key = [range.subnet, range.rangeStart, range.rangeEnd, range.gateway].join('|');
  const known = parsed.get(key);
  if (known) return known;
  const subnet = parseRange(range.subnet);
  if (!subnet) throw new CniError(cniErrorCode.invalidNetworkConfig, `invalid CIDR address: ${range.subnet}`);
  const result = {
    first: parseIPv4(range.rangeStart) ?? firstAddress(subnet),
    end: parseIPv4(range.rangeEnd) ?? lastAddress(subnet),
    gateway: range.gateway ?? formatIPv4(subnet.base + 1),
    prefix: subnet.prefix,
  };
  if (parsed.size >= mostParsed) parsed.clear();
  parsed.set(key, result);
  return result;
}

/** All addresses of all ranges, from the one after the last that was given, and round to it. */
function* candidates(
  set: readonly Range[],
  last: number | undefined,
): Generator<{ address: number; range: ParsedRange }> {
  const found = set.findIndex((range) => {
    const { first, end } = parse(range);
    return last !== undefined && last >= first && last <= end;
  });
  const startAt = Math.max(0, found);
  const start = found < 0 || last === undefined ? -Infinity : last + 1;
  for (let step = 0; step <= set.length; step++) {
    const at = set[(startAt + step) % set.length];
    if (!at) return;
    const range = parse(at);
    const from = step === 0 ? Math.max(range.first, start) : range.first;
    const to = step === set.length ? Math.min(range.end, start - 1) : range.end;
    for (let address = from; address <= to; address++) yield { address, range };
  }
}

/** Written over in place: a file that is cut off and written anew is flushed to the disk at once by some file systems. */
function mark(file: string, address: string): void {
  const text = address.padEnd(longestAddress);
  try {
    writeFileSync(file, text, { flag: 'r+' });
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
    writeFileSync(file, text);
  }
}

/** The file's creation is the reservation: two processes never get the same address. */
function reserve(file: string, owner: string): boolean {
  try {
    writeFileSync(file, owner, { flag: 'wx' });
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    if (errorCode(error) !== 'ENOENT') throw error;
    mkdirSync(dirname(file), { recursive: true });
    return reserve(file, owner);
  }
}

function reservations(dir: string): [file: string, holder: string][] {
  let names: string[];
  try {
    names = readdirSync(dir);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  }
  return names
    .filter((name) => parseIPv4(name) !== undefined)
    .map((name) => [join(dir, name), readOptional(join(dir, name)) ?? '']);
}

/** False when the address isn't this owner's. */
function releaseOne(file: string, owner: string): boolean {
  if (readOptional(file) !== owner) return false;
  rmSync(file, { force: true });
  return true;
}

function releaseWhere(dir: string, matches: (holder: string) => boolean): void {
  for (const [file, holder] of reservations(dir)) if (matches(holder)) rmSync(file, { force: true });
}

function readOptional(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
