import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { UserInfo } from '../contracts';
import type { TokenAuthenticator } from './token-authenticator';

/**
 * Static tokens: lines of `token,user,uid,"group1,group2"`.
 * Source: https://kubernetes.io/docs/reference/access-authn-authz/authentication/#static-token-file
 */
export async function loadTokenFile(file: string): Promise<TokenAuthenticator> {
  const users = parseTokenFile(await readFile(file, 'utf8'), file);
  return {
    name: 'TokenFile',
    // Looked up by digest, so that the time taken says nothing about the tokens.
    authenticateToken: async (token) => {
      const user = users.get(digest(token));
      return user && { user };
    },
  };
}

/** Users by the digest of their token. */
export function parseTokenFile(text: string, file: string): ReadonlyMap<string, UserInfo> {
  const users = new Map<string, UserInfo>();
  for (const [i, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === '' || line.startsWith('#')) continue;
    const [token, name, uid, groups = ''] = csvFields(line);
    if (!token || !name || uid === undefined) {
      throw new Error(`${file}:${i + 1}: a line needs at least three columns: token, user name, user uid`);
    }
    users.set(digest(token), {
      name,
      uid,
      groups: groups.split(',').filter((group) => group !== ''),
    });
  }
  return users;
}

const digest = (token: string): string => createHash('sha256').update(token).digest('base64');

/** One CSV line; a field in double quotes may hold commas, and quotes doubled. */
function csvFields(line: string): string[] {
  return [...line.matchAll(/\s*(?:"((?:[^"]|"")*)"|([^,]*))(?:,|$)/g)]
    .slice(0, -1)
    .map(([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain?.trim() ?? '');
}
