import { isIPv4 } from 'node:net';
import { implicit, objectIdentifier, sequence, setOf, text, type Der } from './der';
import { memberAt, members, readElement, readObjectIdentifier, readText, setTag } from './der-reader';
import type { AlternativeNames, CertificateRequest, Subject } from './types';

const commonNameType = '2.5.4.3';
const organizationType = '2.5.4.10';

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
  const attributes = members(readElement(name))
    .flatMap((relative) => members(relative, setTag))
    .map((attribute) => {
      const parts = members(attribute);
      return { type: readObjectIdentifier(memberAt(parts, 0)), value: readText(memberAt(parts, 1)) };
    });
  const valuesOf = (type: string) => attributes.filter((a) => a.type === type).map((a) => a.value);
  return { commonName: valuesOf(commonNameType).at(-1) ?? '', organizations: valuesOf(organizationType) };
}

/** Of GeneralName's choices. */
const emailTag = 1;
const dnsNameTag = 2;
const uriTag = 6;
const ipAddressTag = 7;

/** The content of a SubjectAltName extension; undefined without a name. */
export function encodeAlternativeNames({
  dnsNames = [],
  ipAddresses = [],
}: AlternativeNames): Der | undefined {
  if (dnsNames.length + ipAddresses.length === 0) return undefined;
  return sequence(
    ...dnsNames.map((name) => implicit(dnsNameTag, Buffer.from(name, 'latin1'))),
    ...ipAddresses.map((address) => implicit(ipAddressTag, addressBytes(address))),
  );
}

type RequestedNames = Pick<CertificateRequest, 'dnsNames' | 'ipAddresses' | 'emailAddresses' | 'uris'>;

/** The names in a SubjectAltName extension's content; none without one. */
export function readAlternativeNames(content: Buffer | undefined): RequestedNames {
  const names = content ? members(readElement(content)) : [];
  const withTag = (number: number) => names.filter((n) => n.tag === (0x80 | number)).map((n) => n.content);
  const texts = (number: number) => withTag(number).map((bytes) => bytes.toString('latin1'));
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
  const groups = bytes.toString('hex').match(/.{4}/g) ?? [];
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1);
}
