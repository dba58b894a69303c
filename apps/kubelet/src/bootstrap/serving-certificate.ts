import { createSelfSignedCertificate, type CertificatePair } from '@tinkernetes/pki';
import { X509Certificate } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ignoreMissing } from '../volumes/atomic-writer';

/** The server's self-signed certificate, kept in --cert-dir as `kubelet.crt` and `kubelet.key`. */
export async function ensureServingCertificate(
  directory: string,
  { nodeName, addresses, now }: { nodeName: string; addresses: readonly string[]; now: number },
): Promise<CertificatePair> {
  const certificateFile = join(directory, 'kubelet.crt');
  const keyFile = join(directory, 'kubelet.key');
  const [certificate, key] = await Promise.all([
    readFile(certificateFile, 'utf8').catch(ignoreMissing),
    readFile(keyFile, 'utf8').catch(ignoreMissing),
  ]);
  if (certificate && key && Date.parse(new X509Certificate(certificate).validTo) > now)
    return { certificate, key };
  const pair = await createSelfSignedCertificate({
    commonName: nodeName,
    dnsNames: [nodeName],
    ipAddresses: [...new Set(addresses)],
    usages: ['serverAuth'],
    now,
  });
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await writeFile(certificateFile, pair.certificate);
  await writeFile(keyFile, pair.key, { mode: 0o600 });
  return pair;
}
