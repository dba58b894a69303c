import { createPrivateKey, webcrypto } from 'node:crypto';
import type * as X509 from '@peculiar/x509';
import type {
  CertificateAuthority,
  CertificateOptions,
  CertificatePair,
  CertificateRequest,
  CertificateRequestOptions,
  ExtendedKeyUsage,
  KeyUsage,
  Subject,
  Validity,
} from './types';
import {
  alternativeNames,
  generateKeys,
  keyAlgorithm,
  loadX509,
  privateKeyToPem,
  publicKeyToPem,
  subjectOf,
  validity,
} from './x509';

const yearMs = 365 * 24 * 3600_000;

/** A self-signed authority, valid for ten years. */
export async function createCertificateAuthority(options: Subject & Validity): Promise<CertificateAuthority> {
  const x509 = await loadX509();
  const keys = await generateKeys();
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: serialNumber(),
    name: subjectOf(options),
    ...validity(options, 10 * yearMs),
    signingAlgorithm: keyAlgorithm,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.KeyUsagesExtension(
        x509.KeyUsageFlags.digitalSignature | x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign,
        true,
      ),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { certificate: pem(certificate), key: await privateKeyToPem(keys.privateKey) };
}

/** A certificate signed by `ca`, with a new key. */
export async function issueCertificate(
  ca: CertificateAuthority,
  options: CertificateOptions,
): Promise<CertificatePair> {
  const keys = await generateKeys();
  const x509 = await loadX509();
  const certificate = await sign(ca, {
    subject: new x509.Name(subjectOf(options)).toString(),
    publicKey: keys.publicKey,
    usages: options.usages,
    validity: validity(options, yearMs),
    extensions: alternativeNames(x509, options),
  });
  return { certificate, key: await privateKeyToPem(keys.privateKey) };
}

/** A certificate that nobody else vouches for: a kubelet's serving certificate before one is requested. */
export async function createSelfSignedCertificate(options: CertificateOptions): Promise<CertificatePair> {
  const x509 = await loadX509();
  const keys = await generateKeys();
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: serialNumber(),
    name: subjectOf(options),
    ...validity(options, yearMs),
    signingAlgorithm: keyAlgorithm,
    keys,
    extensions: [...leafExtensions(x509, options.usages), ...alternativeNames(x509, options)],
  });
  return { certificate: pem(certificate), key: await privateKeyToPem(keys.privateKey) };
}

/** A PKCS #10 request and the key it is for, both PEM. */
export async function createCertificateSigningRequest(
  options: CertificateRequestOptions,
): Promise<{ request: string; key: string }> {
  const x509 = await loadX509();
  const keys = await generateKeys();
  const request = await x509.Pkcs10CertificateRequestGenerator.create({
    name: subjectOf(options),
    keys,
    signingAlgorithm: keyAlgorithm,
    extensions: alternativeNames(x509, options),
  });
  return { request: `${request.toString('pem')}\n`, key: await privateKeyToPem(keys.privateKey) };
}

/** What a request asks for, its own signature checked. Throws when it can't be read or the signature is wrong. */
export async function readCertificateSigningRequest(request: string): Promise<CertificateRequest> {
  const x509 = await loadX509();
  const csr = new x509.Pkcs10CertificateRequest(request);
  if (!(await csr.verify())) throw new Error("the request's signature doesn't match its key");
  const extension = alternativeNamesOf(x509, csr);
  const namesOf = (kind: X509.GeneralNameType) =>
    (extension?.names.items ?? []).filter(({ type }) => type === kind).map(({ value }) => value);
  return {
    commonName: csr.subjectName.getField('CN')[0] ?? '',
    organizations: csr.subjectName.getField('O'),
    dnsNames: namesOf('dns'),
    ipAddresses: namesOf('ip'),
    emailAddresses: namesOf('email'),
    uris: namesOf('url'),
  };
}

function alternativeNamesOf(
  x509: typeof X509,
  csr: X509.Pkcs10CertificateRequest,
): X509.SubjectAlternativeNameExtension | undefined {
  return csr.extensions.find(
    (e): e is X509.SubjectAlternativeNameExtension => e instanceof x509.SubjectAlternativeNameExtension,
  );
}

interface SigningOptions extends Validity {
  /** PKCS #10, PEM. */
  request: string;
  usages: readonly ExtendedKeyUsage[];
  /** Default: what client and serving certificates have. */
  keyUsages?: readonly KeyUsage[];
}

/** The certificate for a request: its subject, key and alternative names, signed by `ca`. */
export async function signCertificateSigningRequest(
  ca: CertificateAuthority,
  { request, usages, keyUsages, ...period }: SigningOptions,
): Promise<string> {
  const x509 = await loadX509();
  const csr = new x509.Pkcs10CertificateRequest(request);
  if (!(await csr.verify())) throw new Error("the request's signature doesn't match its key");
  const names = alternativeNamesOf(x509, csr);
  return sign(ca, {
    subject: csr.subject,
    publicKey: await csr.publicKey.export(),
    usages,
    keyUsages,
    validity: validity(period, yearMs),
    extensions: names ? [names] : [],
  });
}

/** The pair of keys that signs and verifies service-account tokens (ES256), PEM. */
export async function createServiceAccountKeyPair(): Promise<{ publicKey: string; privateKey: string }> {
  const keys = await generateKeys();
  const [publicKey, privateKey] = await Promise.all([
    publicKeyToPem(keys.publicKey),
    privateKeyToPem(keys.privateKey),
  ]);
  return { publicKey, privateKey };
}

interface SignOptions {
  subject: string;
  publicKey: webcrypto.CryptoKey;
  usages: readonly ExtendedKeyUsage[];
  keyUsages?: readonly KeyUsage[];
  validity: { notBefore: Date; notAfter: Date };
  extensions: X509.Extension[];
}

async function sign(ca: CertificateAuthority, options: SignOptions): Promise<string> {
  const x509 = await loadX509();
  const issuer = new x509.X509Certificate(ca.certificate);
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: serialNumber(),
    subject: options.subject,
    issuer: issuer.subject,
    // Nothing outlives its authority.
    notBefore: options.validity.notBefore,
    notAfter: options.validity.notAfter < issuer.notAfter ? options.validity.notAfter : issuer.notAfter,
    signingAlgorithm: keyAlgorithm,
    publicKey: options.publicKey,
    signingKey: await importSigningKey(ca.key),
    extensions: [
      ...leafExtensions(x509, options.usages, options.keyUsages),
      await x509.AuthorityKeyIdentifierExtension.create(issuer),
      ...options.extensions,
    ],
  });
  return pem(certificate);
}

function leafExtensions(
  x509: typeof X509,
  usages: readonly ExtendedKeyUsage[],
  keyUsages: readonly KeyUsage[] = ['digitalSignature', 'keyEncipherment'],
): X509.Extension[] {
  const bits = keyUsages.reduce((sum, usage) => sum | x509.KeyUsageFlags[usage], 0);
  return [
    new x509.BasicConstraintsExtension(false, undefined, true),
    ...(bits ? [new x509.KeyUsagesExtension(bits, true)] : []),
    ...(usages.length > 0
      ? [new x509.ExtendedKeyUsageExtension(usages.map((usage) => x509.ExtendedKeyUsage[usage]))]
      : []),
  ];
}

function importSigningKey(key: string): Promise<webcrypto.CryptoKey> {
  const der = createPrivateKey(key).export({ type: 'pkcs8', format: 'der' });
  return webcrypto.subtle.importKey('pkcs8', der, keyAlgorithm, false, ['sign']);
}

/** 16 random bytes, positive. */
function serialNumber(): string {
  const bytes = webcrypto.getRandomValues(new Uint8Array(16));
  bytes[0] = (bytes[0] ?? 0) & 0x7f;
  return Buffer.from(bytes).toString('hex');
}

const pem = (certificate: X509.X509Certificate): string => `${certificate.toString('pem')}\n`;
