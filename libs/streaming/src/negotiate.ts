import type { IncomingMessage } from 'node:http';

export type UpgradeKind = 'websocket' | 'spdy' | undefined;

export function upgradeKind(request: IncomingMessage): UpgradeKind {
  const upgrade = request.headers.upgrade?.toLowerCase();
  if (upgrade === 'websocket') return 'websocket';
  return upgrade === 'spdy/3.1' ? 'spdy' : undefined;
}

/** The first of the client's protocols, which come in its order of preference, that the server speaks. */
export function negotiate(offered: Iterable<string>, supported: readonly string[]): string | undefined {
  for (const protocol of offered) if (supported.includes(protocol)) return protocol;
  return undefined;
}

/** The values of a comma-separated header, however often it was sent. */
export function headerList(request: IncomingMessage, name: string): string[] {
  const value = request.headers[name];
  const text = Array.isArray(value) ? value.join(',') : (value ?? '');
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}
