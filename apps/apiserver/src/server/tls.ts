import { readFile } from 'node:fs/promises';
import { UsageError } from '@tinkernetes/component-base';
import type { ApiServerOptions } from '../options';
import type { TlsMaterial } from './https-server';

/** The serving certificate and client CA from their files; without a certificate a self-signed one is made. */
export async function loadTls(options: ApiServerOptions, now: number): Promise<TlsMaterial> {
  const clientCa = await clientAuthorities(options);
  if (options.tls) {
    const [cert, key] = await Promise.all([
      read(options.tls.certFile, '--tls-cert-file'),
      read(options.tls.keyFile, '--tls-private-key-file'),
    ]);
    return { cert, key, clientCa };
  }
  const { createSelfSignedCertificate } = await import('@tinkernetes/pki');
  const { certificate, key } = await createSelfSignedCertificate({
    commonName: 'kube-apiserver',
    dnsNames: ['localhost', 'kubernetes', 'kubernetes.default', 'kubernetes.default.svc'],
    ipAddresses: [...new Set([options.bindAddress, options.advertiseAddress, '127.0.0.1'])],
    usages: ['serverAuth'],
    now,
  });
  return { cert: certificate, key, clientCa };
}

/** Everybody whose client certificates some authenticator believes; which ones it does, is its own matter. */
async function clientAuthorities({
  clientCaFile,
  requestHeader,
}: ApiServerOptions): Promise<string | undefined> {
  const bundles = await Promise.all([
    ...(clientCaFile ? [read(clientCaFile, '--client-ca-file')] : []),
    ...(requestHeader ? [read(requestHeader.clientCaFile, '--requestheader-client-ca-file')] : []),
  ]);
  return bundles.length ? bundles.join('\n') : undefined;
}

async function read(file: string, flag: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new UsageError(
      `${flag}=${file} can't be read: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}
