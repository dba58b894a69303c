import { createHash, createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { readFile } from 'node:fs/promises';

/** A key that service-account tokens are checked with. */
export interface VerificationKey {
  readonly id: string;
  readonly algorithm: 'ES256' | 'ES384' | 'ES512' | 'RS256';
  readonly key: KeyObject;
}
export interface SigningKey extends VerificationKey {
  readonly privateKey: KeyObject;
}

/** `--service-account-signing-key-file`. */
export async function loadSigningKey(file: string): Promise<SigningKey> {
  const privateKey = createPrivateKey(await readFile(file, 'utf8'));
  return { ...verificationKey(createPublicKey(privateKey)), privateKey };
}

/** `--service-account-key-file`: public keys, or private ones whose public half is used; several in one file. */
export async function loadVerificationKeys(files: readonly string[]): Promise<VerificationKey[]> {
  const keys: VerificationKey[] = [];
  for (const file of files) {
    const blocks = (await readFile(file, 'utf8')).match(/-----BEGIN [^-]+-----[^-]+-----END [^-]+-----/g);
    if (!blocks) throw new Error(`${file} holds no PEM key`);
    keys.push(...blocks.map((pem) => verificationKey(createPublicKey(pem))));
  }
  return keys;
}

function verificationKey(key: KeyObject): VerificationKey {
  return { id: keyId(key), algorithm: algorithmOf(key), key };
}

/** Digest of the key's DER encoding, as upstream's tokens name their key in `kid`. */
function keyId(key: KeyObject): string {
  return createHash('sha256')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest('base64url');
}

function algorithmOf(key: KeyObject): VerificationKey['algorithm'] {
  if (key.asymmetricKeyType === 'rsa') return 'RS256';
  switch (key.asymmetricKeyDetails?.namedCurve) {
    case 'prime256v1':
      return 'ES256';
    case 'secp384r1':
      return 'ES384';
    case 'secp521r1':
      return 'ES512';
    default:
      throw new Error(`keys of type ${key.asymmetricKeyType ?? 'unknown'} can't sign service account tokens`);
  }
}
