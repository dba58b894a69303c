import { X509Certificate } from 'node:crypto';
import {
  authorityExtensions,
  authorityKeyIdentifier,
  createCertificate,
  extension,
  extensionTypes,
  leafExtensions,
  readAuthority,
} from './certificate';
import type { Der } from './der';
import { generateKeys, publicKeyPem, signerOf, type Signer } from './keys';
import {
  canonicalSubject,
  encodeAlternativeNames,
  encodeSubject,
  readAlternativeNames,
  readSubject,
  type RequestedNames,
} from './names';
import { decodeSigningRequest, encodeSigningRequest } from './signing-request';
import type {
  AlternativeNames,
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

const yearMs = 365 * 24 * 3600_000;
const clockSkewMs = 5 * 60_000;

/** A self-signed authority, valid for ten years. */
export async function createCertificateAuthority(options: Subject & Validity): Promise<CertificateAuthority> {
  const { publicKey, key, signer } = await generateKeys();
  const name = encodeSubject(options);
  const certificate = createCertificate(
    {
      issuer: name,
      subject: name,
      ...validity(options, 10 * yearMs),
      publicKey,
      extensions: authorityExtensions(publicKey),
    },
    signer,
  );
  return { certificate, key };
}

/** A certificate signed by `ca`, with a new key. */
export async function issueCertificate(
  ca: CertificateAuthority,
  options: CertificateOptions,
): Promise<CertificatePair> {
  const { publicKey, key } = await generateKeys();
  const certificate = issue(ca, {
    subject: encodeSubject(options),
    publicKey,
    validity: validity(options, yearMs),
    extensions: [...leafExtensions(options.usages), ...alternativeNames(options)],
  });
  return { certificate, key };
}

/** A certificate that nobody else vouches for: a kubelet's serving certificate before one is requested. */
export async function createSelfSignedCertificate(options: CertificateOptions): Promise<CertificatePair> {
  const { publicKey, key, signer } = await generateKeys();
  const name = encodeSubject(options);
  const certificate = createCertificate(
    {
      issuer: name,
      subject: name,
      ...validity(options, yearMs),
      publicKey,
      extensions: [...leafExtensions(options.usages), ...alternativeNames(options)],
    },
    signer,
  );
  return { certificate, key };
}

/** A PKCS #10 request and the key it is for, both PEM. */
export async function createCertificateSigningRequest(
  options: CertificateRequestOptions,
): Promise<{ request: string; key: string }> {
  const { publicKey, key, signer } = await generateKeys();
  return { request: encodeSigningRequest(options, publicKey, signer), key };
}

/** What a request asks for, its own signature checked. Throws when it can't be read or the signature is wrong. */
export async function readCertificateSigningRequest(request: string): Promise<CertificateRequest> {
  const { subject, alternativeNames: names } = await decodeSigningRequest(request);
  return { ...readSubject(subject), ...readAlternativeNames(names) };
}

interface SigningOptions extends Validity {
  /** PKCS #10, PEM. */
  request: string;
  usages: readonly ExtendedKeyUsage[];
  /** Default: what client and serving certificates have. */
  keyUsages?: readonly KeyUsage[];
}

/**
 * The certificate for a request: its key, and of its subject and alternative names what
 * `readCertificateSigningRequest` tells, signed by `ca`.
 */
export async function signCertificateSigningRequest(
  ca: CertificateAuthority,
  { request, usages, keyUsages, ...period }: SigningOptions,
): Promise<string> {
  const { subject, publicKey, alternativeNames: names } = await decodeSigningRequest(request);
  return issue(ca, {
    subject: canonicalSubject(subject),
    publicKey,
    validity: validity(period, yearMs),
    extensions: [...leafExtensions(usages, keyUsages), ...alternativeNames(readAlternativeNames(names))],
  });
}

/** The pair of keys that signs and verifies service-account tokens (ES256), PEM. */
export async function createServiceAccountKeyPair(): Promise<{ publicKey: string; privateKey: string }> {
  const { publicKey, key } = await generateKeys();
  return { publicKey: publicKeyPem(publicKey), privateKey: key };
}

interface Period {
  notBefore: Date;
  notAfter: Date;
}

interface IssueOptions {
  subject: Der;
  publicKey: Buffer;
  validity: Period;
  extensions: readonly Der[];
}

function issue(ca: CertificateAuthority, { validity: period, extensions, ...content }: IssueOptions): string {
  const issuer = issuerOf(ca);
  return createCertificate(
    {
      ...content,
      issuer: issuer.subject,
      notBefore: period.notBefore,
      // Nothing outlives its authority.
      notAfter: period.notAfter < issuer.ends ? period.notAfter : issuer.ends,
      extensions: [...extensions, issuer.keyIdentifier],
    },
    issuer.signer,
  );
}

interface Issuer {
  subject: Der;
  keyIdentifier: Der;
  ends: Date;
  signer: Signer;
}

/** An authority that has been read once: that takes longer than to sign. */
const issuers = new WeakMap<CertificateAuthority, Issuer>();

function issuerOf(ca: CertificateAuthority): Issuer {
  let issuer = issuers.get(ca);
  if (!issuer) {
    const { subject, keyIdentifier } = readAuthority(ca.certificate);
    issuer = {
      subject,
      keyIdentifier: authorityKeyIdentifier(keyIdentifier),
      ends: new Date(new X509Certificate(ca.certificate).validTo),
      signer: signerOf(ca.key),
    };
    issuers.set(ca, issuer);
  }
  return issuer;
}

function alternativeNames(names: AlternativeNames & Partial<RequestedNames>): Der[] {
  const content = encodeAlternativeNames(names);
  return content ? [extension(extensionTypes.subjectAlternativeName, content)] : [];
}

const validity = ({ now, durationMs }: Validity, defaultMs: number): Period => ({
  notBefore: new Date(now - clockSkewMs),
  notAfter: new Date(now + (durationMs ?? defaultMs)),
});
