import { webcrypto } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type * as X509 from '@peculiar/x509';
import type { AlternativeNames, Subject, Validity } from './types';

/** P-256: keys and signatures take well under a millisecond, RSA keys a hundred and more. */
export const keyAlgorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;

const clockSkewMs = 5 * 60_000;
let loaded: Promise<typeof X509> | undefined;

/** The X.509 library, loaded when the first certificate is made: most starts make none. */
export function loadX509(): Promise<typeof X509> {
  loaded ??= load();
  return loaded;
}

/** What the library is made of, the largest parts: all at once they would occupy the event loop for 100 ms. */
const parts = [
  // The library's dependency injection needs it, and leaves it to the application to load.
  () => import('reflect-metadata'),
  () => import('@peculiar/asn1-schema'),
  () => import('@peculiar/asn1-x509'),
  () => import('@peculiar/asn1-cms'),
  () => import('@peculiar/asn1-rsa'),
  () => import('@peculiar/asn1-pkcs9'),
];

async function load(): Promise<typeof X509> {
  for (const part of parts) {
    await part();
    await setImmediate();
  }
  const x509 = await import('@peculiar/x509');
  x509.cryptoProvider.set(webcrypto as unknown as Parameters<typeof x509.cryptoProvider.set>[0]);
  return x509;
}

export async function generateKeys(): Promise<webcrypto.CryptoKeyPair> {
  return (await webcrypto.subtle.generateKey(keyAlgorithm, true, [
    'sign',
    'verify',
  ])) as webcrypto.CryptoKeyPair;
}

export async function privateKeyToPem(key: webcrypto.CryptoKey): Promise<string> {
  return toPem('PRIVATE KEY', await webcrypto.subtle.exportKey('pkcs8', key));
}

export async function publicKeyToPem(key: webcrypto.CryptoKey): Promise<string> {
  return toPem('PUBLIC KEY', await webcrypto.subtle.exportKey('spki', key));
}

function toPem(label: string, der: ArrayBuffer): string {
  const lines =
    Buffer.from(der)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}

export function subjectOf({ commonName, organizations = [] }: Subject): X509.JsonName {
  return [...organizations.map((o) => ({ O: [o] })), { CN: [commonName] }];
}

export function alternativeNames(
  x509: typeof X509,
  { dnsNames = [], ipAddresses = [] }: AlternativeNames,
): X509.Extension[] {
  if (dnsNames.length + ipAddresses.length === 0) return [];
  return [
    new x509.SubjectAlternativeNameExtension([
      ...dnsNames.map((value) => ({ type: 'dns' as const, value })),
      ...ipAddresses.map((value) => ({ type: 'ip' as const, value })),
    ]),
  ];
}

export function validity(
  { now, durationMs }: Validity,
  defaultMs: number,
): { notBefore: Date; notAfter: Date } {
  return { notBefore: new Date(now - clockSkewMs), notAfter: new Date(now + (durationMs ?? defaultMs)) };
}
