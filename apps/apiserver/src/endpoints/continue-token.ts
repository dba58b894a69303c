import { badRequest } from '@tinkernetes/apimachinery';
import { quoteChar } from '../codec/json-syntax-error';

/** Where the next page begins: upstream's own token (k8s.io/apiserver/pkg/storage/continue.go). */
export interface ContinueToken {
  /** Revision of the list; -1: inconsistent, take the current one. */
  revision: number;
  /** Key below the resource's prefix after which to go on. */
  startAfter: string;
}

const tokenVersion = 'meta.k8s.io/v1';

export function encodeContinue({ revision, startAfter }: ContinueToken): string {
  const json = JSON.stringify({ v: tokenVersion, rv: revision, start: `${startAfter}\u0000` });
  return Buffer.from(json).toString('base64url');
}

export function decodeContinue(token: string): ContinueToken {
  const text = Buffer.from(token, 'base64url').toString('latin1');
  let value: { v?: unknown; rv?: unknown; start?: unknown };
  try {
    value = (JSON.parse(text) as typeof value | null) ?? {};
  } catch (error) {
    const first = text[0];
    const reason =
      first === undefined
        ? 'unexpected end of JSON input'
        : `invalid character ${latin1Quote(first)} looking for beginning of value`;
    throw badRequest(`invalid continue token: continue key is not valid: ${reason}`, error);
  }
  const { v, rv, start } = value;
  if (v !== tokenVersion) {
    throw badRequest(
      `invalid continue token: continue key is not valid: server does not recognize this encoded version ${typeof v === 'string' ? v : ''}`,
    );
  }
  if (typeof rv !== 'number' || rv === 0) {
    throw badRequest(
      'invalid continue token: continue key is not valid: incorrect encoded start resourceVersion (version meta.k8s.io/v1)',
    );
  }
  if (typeof start !== 'string' || start === '') {
    throw badRequest(
      'invalid continue token: continue key is not valid: encoded start key empty (version meta.k8s.io/v1)',
    );
  }
  return { revision: rv, startAfter: start.replace(/\0$/, '') };
}

function latin1Quote(char: string): string {
  const code = char.charCodeAt(0);
  return code >= 127 && code < 161 ? `'\\u00${code.toString(16)}'` : quoteChar(char);
}
