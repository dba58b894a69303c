import { createPrivateKey, X509Certificate } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureServingCertificate } from './serving-certificate';

describe('serving certificate', () => {
  const options = { nodeName: 'node-1', addresses: ['127.0.0.1'], now: Date.now() };
  let directory: string;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'serving-certificate-'));
  });
  afterEach(() => rm(directory, { recursive: true, force: true }));

  const pairMatches = ({ certificate, key }: { certificate: string; key: string }) =>
    new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key));

  it('is one and the same pair for all who ask for it at once, and for those who ask later', async () => {
    const pairs = await Promise.all(
      Array.from({ length: 8 }, () => ensureServingCertificate(directory, options)),
    );
    expect(new Set(pairs.map((pair) => pair.certificate)).size).toBe(1);
    expect(await ensureServingCertificate(directory, options)).toEqual(pairs[0]);
  });

  it.each([
    [
      'a key that belongs to another certificate',
      'kubelet.key',
      async (other: string) => readFile(other, 'utf8'),
    ],
    [
      'a key that was cut off',
      'kubelet.key',
      async (other: string) => (await readFile(other, 'utf8')).slice(0, 60),
    ],
    ['a certificate that was cut off', 'kubelet.crt', async () => '-----BEGIN CERTIFICATE-----\nMIIB'],
  ])('replaces %s', async (_what, file, content) => {
    const other = join(directory, 'other');
    await ensureServingCertificate(other, options);
    const first = await ensureServingCertificate(directory, options);
    await writeFile(join(directory, file), await content(join(other, 'kubelet.key')));
    const second = await ensureServingCertificate(directory, options);
    expect(second.certificate).not.toBe(first.certificate);
    expect(pairMatches(second)).toBe(true);
  });
});
