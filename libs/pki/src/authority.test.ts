import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { connect, createServer } from 'node:tls';
import {
  createCertificateAuthority,
  createCertificateSigningRequest,
  createSelfSignedCertificate,
  createServiceAccountKeyPair,
  issueCertificate,
  readCertificateSigningRequest,
  signCertificateSigningRequest,
} from './index';
import { requestsOfOpenssl } from './testing/requests-of-openssl';

const now = Date.now();
const authority = createCertificateAuthority({ commonName: 'kubernetes', now });

it('issues client certificates whose subject is user and groups', async () => {
  const ca = await authority;
  const pair = await issueCertificate(ca, {
    commonName: 'jane',
    organizations: ['dev', 'ops'],
    usages: ['clientAuth'],
    now,
  });
  const certificate = new X509Certificate(pair.certificate);
  expect(certificate.subject).toBe('O=dev\nO=ops\nCN=jane');
  expect(certificate.issuer).toBe('CN=kubernetes');
  expect(certificate.verify(new X509Certificate(ca.certificate).publicKey)).toBe(true);
  expect(certificate.ca).toBe(false);
});

it('issues serving certificates that TLS clients accept for their names and addresses', async () => {
  const ca = await authority;
  const pair = await issueCertificate(ca, {
    commonName: 'server',
    usages: ['serverAuth'],
    dnsNames: ['kubernetes.default'],
    ipAddresses: ['127.0.0.1', '::1'],
    now,
  });
  const client = await issueCertificate(ca, { commonName: 'jane', usages: ['clientAuth'], now });
  const server = createServer({
    cert: pair.certificate,
    key: pair.key,
    ca: ca.certificate,
    requestCert: true,
    rejectUnauthorized: true,
  });
  const peer = new Promise<string>((resolve) =>
    server.once('secureConnection', (socket) => {
      resolve(String(socket.getPeerCertificate().subject.CN));
      socket.end();
    }),
  );
  const port = await new Promise<number>((resolve) =>
    server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port)),
  );
  const socket = connect({
    port,
    host: '127.0.0.1',
    servername: 'kubernetes.default',
    ca: ca.certificate,
    cert: client.certificate,
    key: client.key,
  });
  socket.resume();
  await new Promise((resolve, reject) => socket.once('secureConnect', resolve).once('error', reject));
  expect(socket.authorized).toBe(true);
  expect(await peer).toBe('jane');
  socket.destroy();
  server.close();
});

it('signs requests with their own subject, key and names', async () => {
  const ca = await authority;
  const { request, key } = await createCertificateSigningRequest({
    commonName: 'system:node:node-1',
    organizations: ['system:nodes'],
    dnsNames: ['node-1'],
    ipAddresses: ['172.30.0.11'],
  });
  expect(await readCertificateSigningRequest(request)).toEqual({
    commonName: 'system:node:node-1',
    organizations: ['system:nodes'],
    dnsNames: ['node-1'],
    ipAddresses: ['172.30.0.11'],
    emailAddresses: [],
    uris: [],
  });
  const certificate = new X509Certificate(
    await signCertificateSigningRequest(ca, { request, usages: ['clientAuth'], now, durationMs: 3600_000 }),
  );
  expect(certificate.subject).toBe('O=system:nodes\nCN=system:node:node-1');
  expect(certificate.subjectAltName).toBe('DNS:node-1, IP Address:172.30.0.11');
  expect(certificate.checkPrivateKey((await import('node:crypto')).createPrivateKey(key))).toBe(true);
  expect(Date.parse(certificate.validTo) - now).toBeLessThanOrEqual(3600_000);
});

it.each([
  [
    'RSA',
    `-----BEGIN CERTIFICATE REQUEST-----
MIICYjCCAUoCAQAwHTEMMAoGA1UECgwDZGV2MQ0wCwYDVQQDDARqYW5lMIIBIjAN
BgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAmrnLzV+8o/TOxRVGYxTpX1lsre+r
WuIlG2HatgsCbu8tpT03HknmQoR4oG8W/EBVMJRUxbJEedNiX7ptfYG76XNhKey+
cz9TVRJ6kt2ykKcOLH0cR9hzn0MoO40ZFWdiIXZVReFH4xHlytiCoIIqz2Et5/pk
0/N5ngH8Lg6D1wPfOgW/yVfcsd7K/mZ4xh5YJnOT/GCA75t2+xUl8jlgbcNaGe8H
GCagY0j58fxBp+TFHNrDwoUo+gkFDAMgaCdwLKeW2GSeHxIM3464wgYi7wuHcX4l
oNaa1cA09Q6QlqnhqX7vCY3h7epB/OoTsVTEjBxs4nnMjwJG5LhtR+YhTwIDAQAB
oAAwDQYJKoZIhvcNAQELBQADggEBAAfzvXSsT9YupoigjoCDxScexnc0Y3W5uFK1
XuEGzDlodTbSF38fj0MQvUsQct6spKSbBrfruOVJp27zg7H9fuJ3ztMsKs95FDES
gW1/PmTw4WeF1HZuIyV8KdGKm5ElHgN4CytShtQYWizFUamOQ0y756aAvnTWQ3Ss
eL/NEP6HMFtBD0Bflbnn0DP4ExtlAuTCJ/AarDacx0PUGQitnl/5B70VVRBt2X6+
QAkInjWzhPMKBV7+bg4to7FTCvZdWKb0ZucFsJ+sVwR2bVgjLygAbrjZ0FLjuWsU
KXw29qR8xyQvKptp3iJyeDhw/9GYz7zkyQOD7UycLO8GxPNwr0I=
-----END CERTIFICATE REQUEST-----
`,
    ['jane'],
    [],
  ],
  [
    'P-384',
    `-----BEGIN CERTIFICATE REQUEST-----
MIIBNjCBvQIBADAPMQ0wCwYDVQQDDARqYW5lMHYwEAYHKoZIzj0CAQYFK4EEACID
YgAEUztvj6UBqT9xp5dpYofCZCpG1UScTEhGYSD91u9gtK4NXSHpMHp28FTp/QbB
n7Wd31A5z/8TOvlofTHJ20qJHXP5Zioa5uYYngE6pgW1X3ayw0H8JSMPjoFVkXDz
W572oC8wLQYJKoZIhvcNAQkOMSAwHjAcBgNVHREEFTATgQVhQGIuY4YKc3BpZmZl
Oi8veDAKBggqhkjOPQQDAgNoADBlAjAOIMMhickJEPSub8kK/yxCnoTctFMODyky
9XZPFYJm8IJgxIBRys5dE1PO+/ncJAICMQCRT4FYXVQ+nHEy/jSpVgb1uc/Onkzz
Qy1PaokKCTjetlmEkSYkChWe5Nlxsduv4rk=
-----END CERTIFICATE REQUEST-----
`,
    ['jane'],
    ['spiffe://x'],
  ],
  [
    'Ed25519',
    `-----BEGIN CERTIFICATE REQUEST-----
MIGOMEICAQAwDzENMAsGA1UEAwwEamFuZTAqMAUGAytlcAMhAEZBTW4ppm4zzha7
Swa0kS3uZEofyTPt9LMg5HzaYNLLoAAwBQYDK2VwA0EANhUWK3Zmy3xk5RTGaQzm
lTQ/on+pfDL0XMEChH/2SJ6HSWCtC/K9ar02ZudTZwMQZUiquklVB7+WXYrXwuyg
CQ==
-----END CERTIFICATE REQUEST-----
`,
    ['jane'],
    [],
  ],
])('signs what openssl makes with a key of %s', async (_, request, names, uris) => {
  const read = await readCertificateSigningRequest(request);
  expect([[read.commonName], read.uris]).toEqual([names, uris]);
  const certificate = new X509Certificate(
    await signCertificateSigningRequest(await authority, {
      request,
      usages: ['clientAuth'],
      keyUsages: [],
      now,
    }),
  );
  expect(certificate.keyUsage).toEqual(['1.3.6.1.5.5.7.3.2']);
});

it('never issues beyond the end of the authority', async () => {
  const ca = await createCertificateAuthority({ commonName: 'short', now, durationMs: 60_000 });
  const pair = await issueCertificate(ca, { commonName: 'x', usages: ['clientAuth'], now });
  expect(Date.parse(new X509Certificate(pair.certificate).validTo)).toBeLessThanOrEqual(now + 60_000);
});

it.each(['not PEM at all', '-----BEGIN CERTIFICATE REQUEST-----\nMIIB\n-----END CERTIFICATE REQUEST-----\n'])(
  'rejects an unreadable request: %s',
  async (request) => {
    await expect(readCertificateSigningRequest(request)).rejects.toThrow();
  },
);

it('makes self-signed serving certificates and service-account keys', async () => {
  const pair = await createSelfSignedCertificate({
    commonName: 'node-1@1',
    usages: ['serverAuth'],
    dnsNames: ['node-1'],
    now,
  });
  expect(new X509Certificate(pair.certificate).checkHost('node-1')).toBe('node-1');
  const keys = await createServiceAccountKeyPair();
  expect(keys.publicKey).toContain('BEGIN PUBLIC KEY');
  expect(keys.privateKey).toContain('BEGIN PRIVATE KEY');
});

describe.each(Object.entries(requestsOfOpenssl))('a request of openssl with %s', (_, request) => {
  it('is read and signed', async () => {
    const ca = await authority;
    expect(await readCertificateSigningRequest(request)).toEqual({
      commonName: 'jane',
      organizations: ['dev', 'ops'],
      dnsNames: ['a.b'],
      ipAddresses: ['::1'],
      emailAddresses: ['j@a.b'],
      uris: [],
    });
    const signed = await signCertificateSigningRequest(ca, { request, usages: ['clientAuth'], now });
    const certificate = new X509Certificate(signed);
    expect(certificate.subject).toBe('O=dev\nO=ops\nCN=jane');
    expect(certificate.subjectAltName).toBe('DNS:a.b, email:j@a.b, IP Address:0:0:0:0:0:0:0:1');
    expect(certificate.verify(new X509Certificate(ca.certificate).publicKey)).toBe(true);
  });

  it('is refused when a byte of it has changed, or its end is missing', async () => {
    const der = Buffer.from(request.replace(/-----.*-----|\n/g, ''), 'base64');
    const asPem = (bytes: Buffer) =>
      `-----BEGIN CERTIFICATE REQUEST-----\n${bytes.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`;
    await expect(readCertificateSigningRequest(asPem(der))).resolves.toHaveProperty('commonName', 'jane');
    for (let at = 0; at < der.length; at += 7) {
      const changed = Buffer.from(der);
      changed[at] = (changed[at] ?? 0) ^ 0x15;
      await expect(readCertificateSigningRequest(asPem(changed))).rejects.toThrow();
      await expect(readCertificateSigningRequest(asPem(der.subarray(0, at)))).rejects.toThrow();
    }
  });
});

it('issues with an authority that has an RSA key', async () => {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const key = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
  const { certificate } = await authority;
  const pair = await issueCertificate({ certificate, key }, { commonName: 'x', usages: ['clientAuth'], now });
  expect(new X509Certificate(pair.certificate).verify(publicKey)).toBe(true);
});

// Made by openssl with `subjectKeyIdentifier=01:02:…:14`: as Go's since 1.25, none that SHA-1 gives.
const authorityWithOwnIdentifier = {
  certificate: `-----BEGIN CERTIFICATE-----
MIIBijCCAS+gAwIBAgIUdWRe1bB9p3rA3IvHqypVTl9lK9cwCgYIKoZIzj0EAwIw
GTEXMBUGA1UEAwwObWFkZSBlbHNld2hlcmUwIBcNMjYxMTMwMDgzOTMyWhgPMjEy
NjExMDYwODM5MzJaMBkxFzAVBgNVBAMMDm1hZGUgZWxzZXdoZXJlMFkwEwYHKoZI
zj0CAQYIKoZIzj0DAQcDQgAEWDvGQthZDXmxBF2EjKmnrjVNpHPRq8K/AX6q8GcQ
eIUOWpX0WP0w7OT/mfdZuJ3Eul64f0lPjSBFf2D81vEcO6NTMFEwHwYDVR0jBBgw
FoAUlWNUkbLZwTHi7Y3aesXx9BmXcc0wDwYDVR0TAQH/BAUwAwEB/zAdBgNVHQ4E
FgQUAQIDBAUGBwgJCgsMDQ4PEBESExQwCgYIKoZIzj0EAwIDSQAwRgIhAOSQR7Kv
Nuj4QESySPVFgrAgLpMW3ic3oFFlQaFzRwkqAiEAmOu9dZ52hTGtyeAEZdQKz/fm
1XxIjezf4lUPFqxZ4fo=
-----END CERTIFICATE-----
`,
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgH5Y94edEe3xzmBZk
ljKDr4KS3EwhLEnwtZNapukoKkOhRANCAARYO8ZC2FkNebEEXYSMqaeuNU2kc9Gr
wr8BfqrwZxB4hQ5alfRY/TDs5P+Z91m4ncS6Xrh/SU+NIEV/YPzW8Rw7
-----END PRIVATE KEY-----
`,
};

it("names its authority's key as the authority does, which clients compare", async () => {
  const pair = await issueCertificate(authorityWithOwnIdentifier, {
    commonName: 'x',
    usages: ['serverAuth'],
    now,
  });
  const issuer = new X509Certificate(authorityWithOwnIdentifier.certificate);
  expect(new X509Certificate(pair.certificate).checkIssued(issuer)).toBe(true);
});

it.each(['127.0.0.1', '::', '::1', '2001:db8::8:800:200c:417a', 'fe80:0:0:0:1:2:3:4', '::ffff:10.0.0.1'])(
  'keeps the address %s',
  async (address) => {
    const { certificate } = await createSelfSignedCertificate({
      commonName: 'x',
      usages: ['serverAuth'],
      ipAddresses: [address],
      now,
    });
    expect(new X509Certificate(certificate).checkIP(address)).toBe(address);
  },
);

it('keeps names beyond ASCII, and ends beyond 2049', async () => {
  const { certificate } = await createCertificateAuthority({
    commonName: 'Zoë*',
    organizations: ['a, b', ''],
    now,
    durationMs: 40 * 365 * 24 * 3600_000,
  });
  const read = new X509Certificate(certificate);
  expect(read.subject.normalize()).toBe('O=a\\, b\nO=\nCN=Zoë*');
  expect(new Date(read.validTo).getUTCFullYear()).toBeGreaterThan(2050);
});
