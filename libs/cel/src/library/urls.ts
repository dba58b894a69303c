import type { Environment } from '@marcbachmann/cel-js';

const type = 'kubernetes.URL';

/** A URL as Go's net/url parses it: absolute, or a path from the root. */
class Url {
  constructor(private readonly parts: { scheme: string; host: string; path: string; query: string }) {}

  static tryParse(text: string): Url | undefined {
    const match = /^(?:([a-zA-Z][a-zA-Z0-9+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#.*)?$/.exec(
      text,
    );
    if (!match || /[\x00-\x1f\x7f]/.test(text)) return undefined;
    const [, scheme = '', authority = '', path = '', query = ''] = match;
    if (scheme === '' && !path.startsWith('/')) return undefined;
    const host = authority.slice(authority.lastIndexOf('@') + 1);
    const isHost = /^(\[[0-9a-fA-F:.%]+\]|[^:[\]]*)(:\d*)?$/.test(host);
    return isHost ? new Url({ scheme: scheme.toLowerCase(), host, path, query }) : undefined;
  }

  get scheme(): string {
    return this.parts.scheme;
  }
  get host(): string {
    return this.parts.host;
  }
  get hostname(): string {
    return this.host.replace(/:\d*$/, '').replace(/^\[|\]$/g, '');
  }
  get port(): string {
    return /:(\d*)$/.exec(this.host.replace(/^\[.*\]/, ''))?.[1] ?? '';
  }
  get escapedPath(): string {
    return encodeURI(decode(this.parts.path));
  }
  get query(): Map<string, string[]> {
    const out = new Map<string, string[]>();
    for (const [key, value] of new URLSearchParams(this.parts.query))
      out.set(key, [...(out.get(key) ?? []), value]);
    return out;
  }
}

function decode(path: string): string {
  try {
    return decodeURI(path);
  } catch (error) {
    if (error instanceof URIError) return path;
    throw error;
  }
}

/** https://kubernetes.io/docs/reference/using-api/cel/#kubernetes-url-library */
export function registerUrls(env: Environment): void {
  env.registerType(type, { ctor: Url as unknown as new () => Url, fields: {} });
  env.registerFunction('isURL(string): bool', (text: string) => Url.tryParse(text) !== undefined);
  env.registerFunction(`url(string): ${type}`, (text: string) => {
    const url = Url.tryParse(text);
    if (!url)
      throw new Error(
        `URL parse error during conversion from string: parse ${JSON.stringify(text)}: invalid URI for request`,
      );
    return url;
  });
  env.registerFunction(`${type}.getScheme(): string`, (url: Url) => url.scheme);
  env.registerFunction(`${type}.getHost(): string`, (url: Url) => url.host);
  env.registerFunction(`${type}.getHostname(): string`, (url: Url) => url.hostname);
  env.registerFunction(`${type}.getPort(): string`, (url: Url) => url.port);
  env.registerFunction(`${type}.getEscapedPath(): string`, (url: Url) => url.escapedPath);
  env.registerFunction(`${type}.getQuery(): map<string, list<string>>`, (url: Url) => url.query);
}
