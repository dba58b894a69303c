import { createPublicKey, createPrivateKey, generateKeyPair, sign, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import { derNull, objectIdentifier, sequence, type Der } from './der';

const generate = promisify(generateKeyPair);

export interface KeyPair {
  /** SubjectPublicKeyInfo. */
  publicKey: Buffer;
  /** PKCS #8, PEM. */
  key: string;
  signer: Signer;
}

/** P-256: keys and signatures take well under a millisecond, RSA keys a hundred and more. */
export async function generateKeys(): Promise<KeyPair> {
  const { publicKey, privateKey } = await generate('ec', { namedCurve: 'P-256' });
  return {
    publicKey: publicKey.export({ type: 'spki', format: 'der' }),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    signer: signerWith(privateKey),
  };
}

export interface Signer {
  /** AlgorithmIdentifier. */
  algorithm: Der;
  sign(data: Buffer): Buffer;
}

/** Signs with SHA-256 by a key in PEM: P-256, or what an authority made elsewhere has. */
export const signerOf = (pem: string): Signer => signerWith(createPrivateKey(pem));

function signerWith(key: KeyObject): Signer {
  const { algorithm, digest } = algorithmOf(key);
  return { algorithm, sign: (data) => sign(digest, data, key) };
}

function algorithmOf(key: KeyObject): { algorithm: Der; digest: string | null } {
  switch (key.asymmetricKeyType) {
    case 'ec':
      return { algorithm: sequence(objectIdentifier('1.2.840.10045.4.3.2')), digest: 'sha256' };
    case 'rsa':
      return {
        algorithm: sequence(objectIdentifier('1.2.840.113549.1.1.11'), derNull),
        digest: 'sha256',
      };
    case 'ed25519':
      return { algorithm: sequence(objectIdentifier('1.3.101.112')), digest: null };
    default:
      throw new Error(`keys of type ${String(key.asymmetricKeyType)} can't sign certificates`);
  }
}

export const publicKeyPem = (publicKey: Buffer): string =>
  createPublicKey({ key: publicKey, format: 'der', type: 'spki' })
    .export({ format: 'pem', type: 'spki' })
    .toString();
