import { X509Certificate } from 'node:crypto';
import { extension, extensionTypes, signed } from './certificate';
import { element, explicit, implicit, objectIdentifier, sequence, setOf, text, unsignedInteger } from './der';
import {
  createCertificateAuthority,
  readCertificateSigningRequest,
  signCertificateSigningRequest,
} from './index';
import { generateKeys } from './keys';
import { toPem } from './pem';

const now = Date.now();
const authority = createCertificateAuthority({ commonName: 'kubernetes', now });

const commonNameType = objectIdentifier('2.5.4.3');
const named = (type: Buffer, value: Buffer) => setOf(sequence(type, value));
const commonName = (value: string) => named(commonNameType, text(value));

/** A request as somebody may make it who keeps to no rule, signed with its own key. */
async function requestOf(subject: readonly Buffer[], alternativeNames?: Buffer): Promise<string> {
  const { publicKey, signer } = await generateKeys();
  const attributes = alternativeNames
    ? [
        sequence(
          objectIdentifier('1.2.840.113549.1.9.14'),
          setOf(sequence(extension(extensionTypes.subjectAlternativeName, alternativeNames))),
        ),
      ]
    : [];
  const version = unsignedInteger(Buffer.from([0]));
  const info = sequence(version, sequence(...subject), publicKey, explicit(0, ...attributes));
  return toPem('CERTIFICATE REQUEST', signed(info, signer));
}

async function certificateFor(request: string): Promise<X509Certificate> {
  const pem = await signCertificateSigningRequest(await authority, { request, usages: ['clientAuth'], now });
  return new X509Certificate(pem);
}

it('signs the one common name that was looked at, not another beside it', async () => {
  const request = await requestOf([
    commonName('system:kube-controller-manager'),
    commonName('system:node:a'),
  ]);
  expect((await readCertificateSigningRequest(request)).commonName).toBe('system:node:a');
  expect((await certificateFor(request)).subject).toBe('CN=system:node:a');
});

it('keeps the attributes that names usually have, and leaves out others', async () => {
  const of = (type: string, value: string) => named(objectIdentifier(type), text(value));
  const request = await requestOf([
    commonName('jane'),
    of('2.5.4.11', 'unit'),
    of('2.5.4.10', 'dev'),
    of('2.5.4.6', 'DE'),
    of('2.5.4.12', 'Dr.'),
  ]);
  expect((await certificateFor(request)).subject).toBe('C=DE\nO=dev\nOU=unit\nCN=jane');
});

it('signs the alternative names that were looked at, not others beside them', async () => {
  const otherName = element(0xa0, objectIdentifier('1.3.6.1.4.1.311.20.2.3'), explicit(0, text('admin')));
  const names = sequence(
    otherName,
    implicit(2, Buffer.from('a.b')),
    implicit(1, Buffer.from('j@a.b')),
    implicit(7, Buffer.from([10, 0, 0, 1])),
    implicit(6, Buffer.from('spiffe://a/b')),
  );
  const certificate = await certificateFor(await requestOf([commonName('jane')], names));
  expect(certificate.subjectAltName).toBe('DNS:a.b, email:j@a.b, IP Address:10.0.0.1, URI:spiffe://a/b');
});

it('leaves the extension out where no name is left', async () => {
  const names = sequence(element(0xa4, sequence(commonName('admin'))));
  expect((await certificateFor(await requestOf([commonName('jane')], names))).subjectAltName).toBeUndefined();
});

const wide = Buffer.from(['j', 'a'].flatMap((c) => [0, 0, 0, c.charCodeAt(0)]));

const badNames: Record<string, Buffer> = {
  'a text of four bytes a character': named(commonNameType, element(0x1c, wide)),
  'invalid UTF-8': named(commonNameType, element(0x0c, Buffer.from([0xc3]))),
  'half a UTF-16 character': named(commonNameType, element(0x1e, Buffer.from([0, 0x6a, 0]))),
  'a type with needless zeros': named(element(0x06, Buffer.from([0x55, 4, 0x80, 3])), text('jane')),
  'a type that does not end': named(element(0x06, Buffer.from([0x55, 4, 3, 0x83])), text('jane')),
  'a length in more bytes than needed': Buffer.from([0x31, 0x81, 0]),
  'a length beyond its end': Buffer.from([0x31, 0x84, 0xff, 0xff, 0xff, 0xff]),
};
const badAlternativeNames: Record<string, Buffer> = {
  'an address of five bytes': implicit(7, Buffer.from([1, 2, 3, 4, 5])),
  'a DNS name beyond ASCII': implicit(2, Buffer.from([0xe4])),
};

async function expectRefused(request: string): Promise<void> {
  await expect(readCertificateSigningRequest(request)).rejects.toThrow();
  await expect(certificateFor(request)).rejects.toThrow();
}

it.each(Object.keys(badNames))('refuses a subject with %s', async (title) => {
  await expectRefused(await requestOf([badNames[title] ?? Buffer.alloc(0)]));
});

it.each(Object.keys(badAlternativeNames))('refuses %s', async (title) => {
  const names = sequence(badAlternativeNames[title] ?? Buffer.alloc(0));
  await expectRefused(await requestOf([commonName('jane')], names));
});
