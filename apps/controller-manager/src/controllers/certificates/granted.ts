import type { ExtendedKeyUsage, KeyUsage } from '@tinkernetes/pki';

const keyUsages: Readonly<Record<string, KeyUsage>> = {
  signing: 'digitalSignature',
  'digital signature': 'digitalSignature',
  'content commitment': 'nonRepudiation',
  'key encipherment': 'keyEncipherment',
  'key agreement': 'keyAgreement',
  'data encipherment': 'dataEncipherment',
  'cert sign': 'keyCertSign',
  'crl sign': 'cRLSign',
  'encipher only': 'encipherOnly',
  'decipher only': 'decipherOnly',
};
const extendedKeyUsages: Readonly<Record<string, ExtendedKeyUsage>> = {
  'server auth': 'serverAuth',
  'client auth': 'clientAuth',
  'code signing': 'codeSigning',
  'email protection': 'emailProtection',
  's/mime': 'emailProtection',
  timestamping: 'timeStamping',
  'ocsp signing': 'ocspSigning',
};

/** A request's usages as a certificate has them: those that it asks for and no others. */
export function grantedUsages(asked: readonly string[]): {
  keyUsages: KeyUsage[];
  usages: ExtendedKeyUsage[];
} {
  return {
    keyUsages: asked.flatMap((usage) => keyUsages[usage] ?? []),
    usages: asked.flatMap((usage) => extendedKeyUsages[usage] ?? []),
  };
}

/** Twice what certificates are dated back by. */
const shortestMs = 10 * 60_000;

/** How long what is signed is valid: as asked, but no shorter than ten minutes and no longer than the signer allows. */
export function grantedDurationMs(expirationSeconds: number | undefined, longestMs: number): number {
  if (expirationSeconds === undefined || expirationSeconds * 1000 > longestMs) return longestMs;
  return Math.max(shortestMs, expirationSeconds * 1000);
}
