/**
 * What keeps a text from being an absolute URL or a path from the root; undefined: nothing. Source: Go's
 * url.ParseRequestURI.
 */
export function requestUriProblem(text: string): string | undefined {
  const problem = problemOf(text);
  return problem === undefined ? undefined : `parse ${quoted(text)}: ${problem}`;
}

function problemOf(text: string): string | undefined {
  if (/[\x00-\x1f\x7f]/.test(text)) return 'net/url: invalid control character in URL';
  if (text === '') return 'empty url';
  if (text === '*') return undefined;
  if (text.startsWith(':')) return 'missing protocol scheme';
  const [, scheme = ''] = /^([a-z][a-z0-9+.-]*):/i.exec(text) ?? [];
  const [rest = ''] = (scheme === '' ? text : text.slice(scheme.length + 1)).split('?');
  if (!rest.startsWith('/')) return scheme === '' ? 'invalid URI for request' : undefined;
  if (scheme === '' || !rest.startsWith('//')) return escapeProblem(rest);
  const [, authority = '', path = ''] = /^\/\/([^/]*)(.*)$/s.exec(rest) ?? [];
  return authorityProblem(authority) ?? escapeProblem(path);
}

function authorityProblem(authority: string): string | undefined {
  const at = authority.lastIndexOf('@');
  const user = authority.slice(0, Math.max(0, at));
  return hostProblem(authority.slice(at + 1)) ?? (at < 0 ? undefined : userProblem(user));
}

const userProblem = (user: string): string | undefined =>
  /^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(user) ? escapeProblem(user) : 'net/url: invalid userinfo';

function hostProblem(host: string): string | undefined {
  const isBracketed = host.startsWith('[');
  const end = host.lastIndexOf(isBracketed ? ']' : ':');
  if (isBracketed && end < 0) return "missing ']' in host";
  const port = isBracketed ? host.slice(end + 1) : end < 0 ? '' : host.slice(end);
  if (!/^(:\d*)?$/.test(port)) return `invalid port ${quoted(port)} after host`;
  // Of escapes, hosts have only those of `%` and of what is no ASCII.
  const [escape] = /%(?![89a-f][0-9a-f]|25).{0,2}/i.exec(host) ?? [];
  if (escape !== undefined && !isBracketed) return escapeWords(escape);
  const [odd] = /[^A-Za-z0-9!$&'()*+,;=:[\]<>"\-_.~%\u0080-\u{10ffff}]/u.exec(host) ?? [];
  return odd === undefined ? undefined : `invalid character ${quoted(odd)} in host name`;
}

function escapeProblem(text: string): string | undefined {
  const [escape] = /%(?![0-9a-f]{2}).{0,2}/i.exec(text) ?? [];
  return escape === undefined ? undefined : escapeWords(escape);
}

const escapeWords = (escape: string): string => `invalid URL escape ${quoted(escape)}`;

/** As Go's `%q` prints a text. */
const quoted = (text: string): string =>
  JSON.stringify(text)
    .replace(/\\u00([01][0-9a-f])/g, '\\x$1')
    .replaceAll('\x7f', '\\x7f');
