import { createHash, randomBytes } from 'node:crypto';
import {
  bitString,
  booleanTrue,
  explicit,
  implicit,
  namedBits,
  objectIdentifier,
  octetString,
  sequence,
  time,
  unsignedInteger,
  type Der,
} from './der';
import {
  memberAt,
  members,
  readBitString,
  readElement,
  readObjectIdentifier,
  type DerElement,
} from './der-reader';
import type { Signer } from './keys';
import { fromPem, toPem } from './pem';
import type { ExtendedKeyUsage, KeyUsage } from './types';

export const extensionTypes = {
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAlternativeName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyIdentifier: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
} as const;

const extendedUsageTypes: Record<ExtendedKeyUsage, string> = {
  serverAuth: '1.3.6.1.5.5.7.3.1',
  clientAuth: '1.3.6.1.5.5.7.3.2',
  codeSigning: '1.3.6.1.5.5.7.3.3',
  emailProtection: '1.3.6.1.5.5.7.3.4',
  timeStamping: '1.3.6.1.5.5.7.3.8',
  ocspSigning: '1.3.6.1.5.5.7.3.9',
};

/** In the order of their bits. */
const keyUsageBits: readonly KeyUsage[] = [
  'digitalSignature',
  'nonRepudiation',
  'keyEncipherment',
  'dataEncipherment',
  'keyAgreement',
  'keyCertSign',
  'cRLSign',
  'encipherOnly',
  'decipherOnly',
];

/** `[3]` of a certificate. */
const extensionsTag = 0xa3;

export const extension = (type: string, content: Uint8Array, isCritical = false): Der =>
  sequence(objectIdentifier(type), ...(isCritical ? [booleanTrue] : []), octetString(content));

/** May sign certificates and revocation lists. */
export const authorityExtensions = (publicKey: Buffer): Der[] => [
  extension(extensionTypes.basicConstraints, sequence(booleanTrue), true),
  ...keyUsage(['digitalSignature', 'keyCertSign', 'cRLSign']),
  extension(extensionTypes.subjectKeyIdentifier, octetString(keyIdentifier(publicKey))),
];

/** Vouches for nobody; without `keyUsages` what clients and servers need. */
export const leafExtensions = (
  usages: readonly ExtendedKeyUsage[],
  keyUsages: readonly KeyUsage[] = ['digitalSignature', 'keyEncipherment'],
): Der[] => [
  extension(extensionTypes.basicConstraints, sequence(), true),
  ...keyUsage(keyUsages),
  ...extendedKeyUsage(usages),
];

function keyUsage(usages: readonly KeyUsage[]): Der[] {
  if (usages.length === 0) return [];
  const bits = keyUsageBits.map((usage) => (usages.includes(usage) ? 1 : 0));
  return [extension(extensionTypes.keyUsage, namedBits(bits), true)];
}

function extendedKeyUsage(usages: readonly ExtendedKeyUsage[]): Der[] {
  if (usages.length === 0) return [];
  const types = usages.map((usage) => objectIdentifier(extendedUsageTypes[usage]));
  return [extension(extensionTypes.extendedKeyUsage, sequence(...types))];
}

/** By which key a certificate is signed, as its authority calls it. */
export const authorityKeyIdentifier = (identifier: Buffer): Der =>
  extension(extensionTypes.authorityKeyIdentifier, sequence(implicit(0, identifier)));

/** SHA-1 of the key's bits. Source: RFC 5280, 4.2.1.2, method 1. */
function keyIdentifier(publicKey: Buffer): Buffer {
  const bits = readBitString(memberAt(members(readElement(publicKey)), 1));
  return createHash('sha1').update(bits).digest();
}

export interface CertificateContent {
  issuer: Der;
  subject: Der;
  notBefore: Date;
  notAfter: Date;
  /** SubjectPublicKeyInfo. */
  publicKey: Buffer;
  extensions: readonly Der[];
}

/** A signed X.509 certificate, version 3, PEM. */
export function createCertificate(content: CertificateContent, signer: Signer): string {
  const toBeSigned = sequence(
    explicit(0, unsignedInteger(Buffer.from([2]))),
    unsignedInteger(serialNumber()),
    signer.algorithm,
    content.issuer,
    sequence(time(content.notBefore), time(content.notAfter)),
    content.subject,
    content.publicKey,
    explicit(3, sequence(...content.extensions)),
  );
  return toPem('CERTIFICATE', signed(toBeSigned, signer));
}

/** `content` with its signature: certificates and requests have the same frame. */
export const signed = (content: Der, signer: Signer): Der =>
  sequence(content, signer.algorithm, bitString(signer.sign(content)));

/** 16 random bytes, positive, never zero. */
function serialNumber(): Buffer {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40;
  return bytes;
}

/** What the certificates that an authority issues repeat of its own. */
export function readAuthority(certificate: string): { subject: Buffer; keyIdentifier: Buffer } {
  const fields = members(memberAt(members(readElement(fromPem(certificate, 'CERTIFICATE'))), 0));
  // Version 1 has no field for the version.
  const offset = fields[0]?.tag === 0xa0 ? 1 : 0;
  const publicKey = memberAt(fields, offset + 5).whole;
  return {
    subject: memberAt(fields, offset + 4).whole,
    keyIdentifier: statedKeyIdentifier(fields) ?? keyIdentifier(publicKey),
  };
}

/** Others may derive theirs in another way (Go, from SHA-256), and clients compare it. */
function statedKeyIdentifier(fields: readonly DerElement[]): Buffer | undefined {
  const extensions = fields.find(({ tag }) => tag === extensionsTag);
  const all = extensions ? members(memberAt(members(extensions, extensionsTag), 0)) : [];
  for (const parts of all.map((one) => members(one))) {
    if (readObjectIdentifier(memberAt(parts, 0)) !== extensionTypes.subjectKeyIdentifier) continue;
    return readElement(memberAt(parts, parts.length - 1, 0x04).content).content;
  }
  return undefined;
}
