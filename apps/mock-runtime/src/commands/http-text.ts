import type { IncomingMessage } from 'node:http';

export function toUrl(text: string): URL {
  return new URL(/^\w+:\/\//.test(text) ? text : `http://${text}`);
}

export function redirectOf(response: IncomingMessage, url: URL): URL | undefined {
  const { location } = response.headers;
  const code = response.statusCode ?? 0;
  return code >= 300 && code < 400 && location !== undefined ? new URL(location, url) : undefined;
}

export function addHeader(headers: Record<string, string>, text: string): void {
  const at = text.indexOf(':');
  if (at > 0) headers[text.slice(0, at).trim()] = text.slice(at + 1).trim();
}

export function headText(response: IncomingMessage, indent: string): string {
  const lines = [`HTTP/${response.httpVersion} ${response.statusCode} ${response.statusMessage}`];
  for (let i = 0; i < response.rawHeaders.length; i += 2)
    lines.push(`${response.rawHeaders[i]}: ${response.rawHeaders[i + 1]}`);
  return lines.map((line) => `${indent}${line}\n`).join('');
}
