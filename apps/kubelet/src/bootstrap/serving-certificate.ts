import { createSelfSignedCertificate, type CertificatePair } from '@tinkernetes/pki';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ignoreMissing } from '../volumes/atomic-writer';

export interface ServingCertificateOptions {
  nodeName: string;
  addresses: readonly string[];
  /** Milliseconds since 1970. */
  now: number;
}

/** Who asks for a directory's pair while it is being made gets the same one: light nodes share a certificate. */
const inProgress = new Map<string, Promise<CertificatePair>>();

/** The server's self-signed certificate, kept in --cert-dir as `kubelet.crt` and `kubelet.key`. */
export function ensureServingCertificate(
  directory: string,
  options: ServingCertificateOptions,
): Promise<CertificatePair> {
  const current = inProgress.get(directory);
  if (current) return current;
  const pair = readOrCreate(directory, options).finally(() => inProgress.delete(directory));
  inProgress.set(directory, pair);
  return pair;
}

async function readOrCreate(
  directory: string,
  { nodeName, addresses, now }: ServingCertificateOptions,
): Promise<CertificatePair> {
  const certificateFile = join(directory, 'kubelet.crt');
  const keyFile = join(directory, 'kubelet.key');
  const [certificate, key] = await Promise.all([
    readFile(certificateFile, 'utf8').catch(ignoreMissing),
    readFile(keyFile, 'utf8').catch(ignoreMissing),
  ]);
  if (certificate && key && isUsable({ certificate, key }, now)) return { certificate, key };
  const pair = await createSelfSignedCertificate({
    commonName: nodeName,
    dnsNames: [nodeName],
    ipAddresses: [...new Set(addresses)],
    usages: ['serverAuth'],
    now,
  });
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await replaceFile(certificateFile, pair.certificate);
  await replaceFile(keyFile, pair.key);
  return pair;
}

/** Whether the two files are a pair that is still valid. A crash between the two writes leaves ones that aren't. */
function isUsable({ certificate, key }: CertificatePair, now: number): boolean {
  try {
    const parsed = new X509Certificate(certificate);
    return Date.parse(parsed.validTo) > now && parsed.checkPrivateKey(createPrivateKey(key));
  } catch {
    // Not PEM, or cut off: as good as missing.
    return false;
  }
}

async function replaceFile(file: string, content: string): Promise<void> {
  await writeFile(`${file}.new`, content, { mode: 0o600 });
  await rename(`${file}.new`, file);
}
