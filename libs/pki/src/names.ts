import { isIPv4 } from 'node:net';
import { implicit, objectIdentifier, sequence, setOf, text, type Der } from './der';
import {
  DerError,
  memberAt,
  members,
  readASCII,
  readElement,
  readObjectIdentifier,
  readText,
  setTag,
} from './der-reader';
import type { AlternativeNames, CertificateRequest, Subject } from './types';

const commonNameType = '2.5.4.3';
const organizationType = '2.5.4.10';
/** Country, organizations, their units, localities, provinces, streets, postal codes: any number of each. */
const listTypes = ['2.5.4.6', organizationType, '2.5.4.11', '2.5.4.7', '2.5.4.8', '2.5.4.9', '2.5.4.17'];
/** Common name and serial number: the last counts. */
const singleTypes = [commonNameType, '2.5.4.5'];
const knownTypes = new Set([...listTypes, ...singleTypes]);

/** An X.501 name: each organization, then the common name. */
export function encodeSubject({ commonName, organizations = [] }: Subject): Der {
  return sequence(
    ...organizations.map((organization) => relativeName(organizationType, organization)),
    relativeName(commonNameType, commonName),
  );
}

const relativeName = (type: string, value: string): Der =>
  setOf(sequence(objectIdentifier(type), text(value)));

/** The last common name counts, as in Go's pkix.Name. */
export function readSubject(name: Buffer): Required<Subject> {
  const valuesOf = attributesOf(name);
  return { commonName: valuesOf(commonNameType).at(-1) ?? '', organizations: valuesOf(organizationType) };
}

/**
 * The name with what `readSubject` sees of it: a certificate must not say more than what was looked at before it was
 * signed, a second common name, say. Source: Go's pkix.Name.
 */
export function canonicalSubject(name: Buffer): Der {
  const valuesOf = attributesOf(name);
  const relativeNames = (values: string[], type: string) => values.map((value) => relativeName(type, value));
  return sequence(
    ...listTypes.flatMap((type) => relativeNames(valuesOf(type), type)),
    ...singleTypes.flatMap((type) => relativeNames(valuesOf(type).slice(-1), type)),
  );
}

/** The values by the attribute's type. */
function attributesOf(name: Buffer): (type: string) => string[] {
  const values = new Map<string, string[]>();
  for (const attribute of members(readElement(name)).flatMap((relative) => members(relative, setTag))) {
    const parts = members(attribute);
    const type = readObjectIdentifier(memberAt(parts, 0));
    if (!knownTypes.has(type)) continue;
    values.set(type, [...(values.get(type) ?? []), readText(memberAt(parts, 1))]);
  }
  return (type) => values.get(type) ?? [];
}

/** Of GeneralName's choices. */
const emailTag = 1;
const dnsNameTag = 2;
const uriTag = 6;
const ipAddressTag = 7;

/** The content of a SubjectAltName extension; undefined without a name. */
export function encodeAlternativeNames({
  dnsNames = [],
  emailAddresses = [],
  ipAddresses = [],
  uris = [],
}: AlternativeNames & Partial<RequestedNames>): Der | undefined {
  const texts = (tag: number, names: readonly string[]) =>
    names.map((name) => implicit(tag, Buffer.from(name, 'latin1')));
  const names = [
    ...texts(dnsNameTag, dnsNames),
    ...texts(emailTag, emailAddresses),
    ...ipAddresses.map((address) => implicit(ipAddressTag, addressBytes(address))),
    ...texts(uriTag, uris),
  ];
  return names.length > 0 ? sequence(...names) : undefined;
}

export type RequestedNames = Pick<CertificateRequest, 'dnsNames' | 'ipAddresses' | 'emailAddresses' | 'uris'>;

/** The names in a SubjectAltName extension's content; none without one. */
export function readAlternativeNames(content: Buffer | undefined): RequestedNames {
  const names = content ? members(readElement(content)) : [];
  const withTag = (number: number) => names.filter((n) => n.tag === (0x80 | number)).map((n) => n.content);
  const texts = (number: number) => withTag(number).map(readASCII);
  return {
    dnsNames: texts(dnsNameTag),
    ipAddresses: withTag(ipAddressTag).map(addressText),
    emailAddresses: texts(emailTag),
    uris: texts(uriTag),
  };
}

function addressBytes(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number));
  // A URL's host is the shortest form, without an IPv4 address at its end.
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const groups = (part: string) => (part === '' ? [] : part.split(':'));
  const before = groups(head);
  const after = groups(tail ?? '');
  const zeros = Array<string>(8 - before.length - after.length).fill('0');
  const bytes = Buffer.alloc(16);
  [...before, ...zeros, ...after].forEach((group, i) =>
    bytes.writeUInt16BE(Number.parseInt(group, 16), i * 2),
  );
  return bytes;
}

function addressText(bytes: Buffer): string {
  if (bytes.length === 4) return bytes.join('.');
  if (bytes.length !== 16) throw new DerError('an address of another length than 4 and 16');
  const groups = bytes.toString('hex').match(/.{4}/g) ?? [];
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1);
}
