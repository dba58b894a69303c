import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { UsageError } from '@tinkernetes/component-base';
import type { Upstream } from './forwarder';

/**
 * The name servers that `--forward` means: a resolv.conf, or addresses (`IP`, `IP:PORT`, `[IPv6]:PORT`), or none for an
 * empty list.
 */
export async function upstreamsOf(forward: readonly string[]): Promise<Upstream[]> {
  const lists = await Promise.all(
    forward.map(async (entry) =>
      entry.startsWith('/') ? fromResolvConf(await readFile(entry, 'utf8')) : [address(entry)],
    ),
  );
  return lists.flat();
}

/** See resolv.conf(5). */
export function fromResolvConf(text: string): Upstream[] {
  return text.split('\n').flatMap((line) => {
    const host = /^\s*nameserver\s+([^\s%#;]+)/.exec(line)?.[1];
    return host && isIP(host) ? [{ host, port: 53 }] : [];
  });
}

function address(entry: string): Upstream {
  if (isIP(entry)) return { host: entry, port: 53 };
  const match = /^\[?([^\]]+)\]?:(\d+)$/.exec(entry);
  const host = match?.[1] ?? '';
  if (!isIP(host))
    throw new UsageError(`invalid value "${entry}" for --forward: must be a file, IP or IP:PORT`);
  return { host, port: Number(match?.[2]) };
}
