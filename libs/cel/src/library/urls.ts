import type { Environment } from '@marcbachmann/cel-js';
import { requestUriProblem } from '@tinkernetes/apimachinery';

const type = 'kubernetes.URL';

/** A URL as Go's net/url parses it: absolute, or a path from the root. */
class Url {
  constructor(private readonly parts: { scheme: string; host: string; path: string; query: string }) {}

  /** A text that is one. */
  static parse(text: string): Url {
    const [, scheme = '', authority = '', path = '', query = ''] =
      /^(?:([a-zA-Z][a-zA-Z0-9+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#.*)?$/.exec(text) ?? [];
    const host = authority.slice(authority.lastIndexOf('@') + 1);
    return new Url({ scheme: scheme.toLowerCase(), host, path, query });
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
  env.registerFunction('isURL(string): bool', (text: string) => requestUriProblem(text) === undefined);
  env.registerFunction(`url(string): ${type}`, (text: string) => {
    const problem = requestUriProblem(text);
    if (problem !== undefined) throw new Error(`URL parse error during conversion from string: ${problem}`);
    return Url.parse(text);
  });
  env.registerFunction(`${type}.getScheme(): string`, (url: Url) => url.scheme);
  env.registerFunction(`${type}.getHost(): string`, (url: Url) => url.host);
  env.registerFunction(`${type}.getHostname(): string`, (url: Url) => url.hostname);
  env.registerFunction(`${type}.getPort(): string`, (url: Url) => url.port);
  env.registerFunction(`${type}.getEscapedPath(): string`, (url: Url) => url.escapedPath);
  env.registerFunction(`${type}.getQuery(): map<string, list<string>>`, (url: Url) => url.query);
}
