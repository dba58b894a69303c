import { sign, verify } from 'node:crypto';
import type { SigningKey, VerificationKey } from './keys';

/** A compact JWS (RFC 7515): synchronous, because every request of every Pod checks one. */
export interface DecodedJwt {
  readonly header: { readonly alg?: unknown; readonly kid?: unknown };
  readonly claims: Readonly<Record<string, unknown>>;
  readonly signed: string;
  readonly signature: Buffer;
}

const digests = { ES256: 'sha256', ES384: 'sha384', ES512: 'sha512', RS256: 'sha256' } as const;

export function signJwt(claims: object, key: SigningKey): string {
  const signed = `${encode({ alg: key.algorithm, kid: key.id })}.${encode(claims)}`;
  const signature = sign(digests[key.algorithm], Buffer.from(signed), {
    key: key.privateKey,
    dsaEncoding: 'ieee-p1363',
  });
  return `${signed}.${signature.toString('base64url')}`;
}

/** undefined: not a JWT at all. Nothing is checked yet. */
export function decodeJwt(token: string): DecodedJwt | undefined {
  const parts = token.split('.');
  const [header, claims, signature] = parts;
  if (parts.length !== 3 || !header || !claims || !signature) return undefined;
  const [head, body] = [decodeObject(header), decodeObject(claims)];
  if (!head || !body) return undefined;
  return {
    header: head,
    claims: body,
    signed: `${header}.${claims}`,
    signature: Buffer.from(signature, 'base64url'),
  };
}

/** The algorithm is the key's own: what the token's header says is compared, never followed. */
export function isSignedBy(jwt: DecodedJwt, { algorithm, id, key }: VerificationKey): boolean {
  if (jwt.header.alg !== algorithm) return false;
  if (typeof jwt.header.kid === 'string' && jwt.header.kid !== '' && jwt.header.kid !== id) return false;
  return verify(
    digests[algorithm],
    Buffer.from(jwt.signed),
    { key, dsaEncoding: 'ieee-p1363' },
    jwt.signature,
  );
}

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

function decodeObject(part: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
