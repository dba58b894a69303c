import { constants, verify } from 'node:crypto';
import { promisify } from 'node:util';
import { derNull, explicit, objectIdentifier, sequence, setOf, unsignedInteger, type Der } from './der';
import {
  memberAt,
  members,
  readBitString,
  readElement,
  readObjectIdentifier,
  setTag,
  type DerElement,
} from './der-reader';
import { extension, extensionTypes, signed } from './certificate';
import type { Signer } from './keys';
import { encodeAlternativeNames, encodeSubject } from './names';
import { fromPem, toPem } from './pem';
import type { CertificateRequestOptions } from './types';

const verifySignature = promisify(verify);

/** `[0]` */
const attributesTag = 0xa0;
const extensionRequest = '1.2.840.113549.1.9.14';

/** A PKCS #10 request, PEM. Source: RFC 2986. */
export function encodeSigningRequest(
  options: CertificateRequestOptions,
  publicKey: Buffer,
  signer: Signer,
): string {
  const names = encodeAlternativeNames(options);
  const attributes = names
    ? [
        sequence(
          objectIdentifier(extensionRequest),
          setOf(sequence(extension(extensionTypes.subjectAlternativeName, names))),
        ),
      ]
    : [];
  const info = sequence(
    unsignedInteger(Buffer.from([0])),
    encodeSubject(options),
    publicKey,
    explicit(0, ...attributes),
  );
  return toPem('CERTIFICATE REQUEST', signed(info, signer));
}

export interface SigningRequest {
  /** The X.501 name as it was encoded. */
  subject: Buffer;
  publicKey: Buffer;
  /** The SubjectAltName extension's content. */
  alternativeNames: Buffer | undefined;
}

/** Throws when the request can't be read, or isn't signed with its own key. */
export async function decodeSigningRequest(pem: string): Promise<SigningRequest> {
  const request = readElement(fromPem(pem, 'CERTIFICATE REQUEST', 'NEW CERTIFICATE REQUEST'));
  const parts = members(request);
  const info = memberAt(parts, 0);
  const fields = members(info);
  const publicKey = memberAt(fields, 2).whole;
  const signature = {
    data: info.whole,
    algorithm: memberAt(parts, 1),
    bytes: readBitString(memberAt(parts, 2)),
  };
  if (!(await isSignedBy(publicKey, signature)))
    throw new Error("the request's signature doesn't match its key");
  const attributes = fields[3] ? members(fields[3], attributesTag) : [];
  return { subject: memberAt(fields, 1).whole, publicKey, alternativeNames: alternativeNamesIn(attributes) };
}

function alternativeNamesIn(attributes: readonly DerElement[]): Buffer | undefined {
  for (const attribute of attributes) {
    const [type, values] = members(attribute);
    if (!type || !values || readObjectIdentifier(type) !== extensionRequest) continue;
    for (const requested of members(values, setTag).flatMap((list) => members(list))) {
      const parts = members(requested);
      if (readObjectIdentifier(memberAt(parts, 0)) !== extensionTypes.subjectAlternativeName) continue;
      return memberAt(parts, parts.length - 1, 0x04).content;
    }
  }
  return undefined;
}

/** Digest by the signature's algorithm; null: the algorithm has its own. */
const digests: Readonly<Record<string, string | null>> = {
  '1.2.840.113549.1.1.5': 'sha1',
  '1.2.840.113549.1.1.11': 'sha256',
  '1.2.840.113549.1.1.12': 'sha384',
  '1.2.840.113549.1.1.13': 'sha512',
  '1.2.840.10045.4.1': 'sha1',
  '1.2.840.10045.4.3.2': 'sha256',
  '1.2.840.10045.4.3.3': 'sha384',
  '1.2.840.10045.4.3.4': 'sha512',
  '1.3.101.112': null,
};
const rsaPss = '1.2.840.113549.1.1.10';
const pssDigests = [
  ['sha256', '2.16.840.1.101.3.4.2.1', 32],
  ['sha384', '2.16.840.1.101.3.4.2.2', 48],
  ['sha512', '2.16.840.1.101.3.4.2.3', 64],
] as const;

interface Signature {
  data: Buffer;
  algorithm: DerElement;
  bytes: Buffer;
}

async function isSignedBy(publicKey: Buffer, { data, algorithm, bytes }: Signature): Promise<boolean> {
  const [type, parameters] = members(algorithm);
  const name = type ? readObjectIdentifier(type) : '';
  const key = { key: publicKey, format: 'der', type: 'spki' } as const;
  if (name === rsaPss) {
    const padding = constants.RSA_PKCS1_PSS_PADDING;
    const saltLength = constants.RSA_PSS_SALTLEN_DIGEST;
    return verifySignature(pssDigest(parameters), data, { ...key, padding, saltLength }, bytes);
  }
  const digest = digests[name];
  if (digest === undefined) throw new Error(`unknown signature algorithm ${name}`);
  return verifySignature(digest, data, key, bytes);
}

/** The parameters that RSASSA-PSS may have: one digest for all, and a salt as long. Source: Go's crypto/x509. */
function pssDigest(parameters: DerElement | undefined): string {
  const found = pssDigests.find(([, type, length]) => parameters?.whole.equals(pssParameters(type, length)));
  if (!found) throw new Error('unknown parameters of an RSA-PSS signature');
  return found[0];
}

function pssParameters(digestType: string, saltLength: number): Der {
  const digest = sequence(objectIdentifier(digestType), derNull);
  return sequence(
    explicit(0, digest),
    explicit(1, sequence(objectIdentifier('1.2.840.113549.1.1.8'), digest)),
    explicit(2, unsignedInteger(Buffer.from([saltLength]))),
  );
}
