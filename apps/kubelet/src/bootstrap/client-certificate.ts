import { CertificateSigningRequests, type CertificateSigningRequest } from '@tinkernetes/api';
import { createClient, loadKubeconfig, type ClientConfig } from '@tinkernetes/client';
import type { Clock, Logger, LoopbackNetwork } from '@tinkernetes/component-base';
import { createCertificateSigningRequest } from '@tinkernetes/pki';
import { X509Certificate } from 'node:crypto';
import { mkdir, rename, symlink, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ignoreMissing } from '../volumes/atomic-writer';
import { userAgent } from '../version';

export interface IdentityOptions {
  /** Where the node's own kubeconfig is or will be. */
  kubeconfig: string;
  /** Used once, to ask for a client certificate. */
  bootstrapKubeconfig: string | undefined;
  clientCertDir: string;
  nodeName: string;
}

export interface IdentityContext {
  clock: Clock;
  logger: Logger;
  signal: AbortSignal;
  loopback?: LoopbackNetwork;
}

export interface NodeIdentity {
  config: ClientConfig;
  /** Epoch milliseconds; undefined where the kubeconfig authenticates otherwise. */
  expiresAt: number | undefined;
}

/**
 * How this kubelet talks to the API server: the kubeconfig of an earlier start while its certificate is valid, else a
 * certificate asked for with the bootstrap kubeconfig.
 * Source: https://kubernetes.io/docs/reference/access-authn-authz/kubelet-tls-bootstrapping/
 */
export async function ensureIdentity(
  options: IdentityOptions,
  context: IdentityContext,
): Promise<NodeIdentity> {
  const known = await loadIdentity(options.kubeconfig);
  if (known && (known.expiresAt === undefined || known.expiresAt > context.clock.now())) return known;
  if (!options.bootstrapKubeconfig) {
    if (known)
      throw new Error(
        `the client certificate of ${options.kubeconfig} has expired and there is no --bootstrap-kubeconfig`,
      );
    throw new Error(`${options.kubeconfig} does not exist and there is no --bootstrap-kubeconfig`);
  }
  const bootstrap = await loadKubeconfig(options.bootstrapKubeconfig, { userAgent });
  context.logger.info({ node: options.nodeName }, 'asking for a client certificate');
  return requestIdentity(bootstrap, options, context);
}

/** Asks for a new certificate with the present one, long enough before it expires. */
export function rotateIdentity(
  { config }: NodeIdentity,
  options: IdentityOptions,
  context: IdentityContext,
): Promise<NodeIdentity> {
  return requestIdentity(config, options, context);
}

/** Of a kubeconfig; undefined where there is none. */
export async function loadIdentity(path: string): Promise<NodeIdentity | undefined> {
  const config = await loadKubeconfig(path, { userAgent, traces: true }).catch(ignoreMissing);
  return config && { config, expiresAt: expiryOf(config.certData) };
}

const expiryOf = (certificate: string | undefined): number | undefined =>
  certificate === undefined ? undefined : Date.parse(new X509Certificate(certificate).validTo);

async function requestIdentity(
  asking: ClientConfig,
  options: IdentityOptions,
  context: IdentityContext,
): Promise<NodeIdentity> {
  const { request, key } = await createCertificateSigningRequest({
    commonName: `system:node:${options.nodeName}`,
    organizations: ['system:nodes'],
  });
  const certificate = await signedCertificate(asking, request, context);
  const pemFile = await storePair(options.clientCertDir, { certificate, key, now: context.clock.now() });
  await mkdir(dirname(options.kubeconfig), { recursive: true });
  await writeFile(options.kubeconfig, JSON.stringify(kubeconfigOf(asking, pemFile), null, 2), {
    mode: 0o600,
  });
  const config: ClientConfig = {
    server: asking.server,
    caData: asking.caData,
    insecureSkipTLSVerify: asking.insecureSkipTLSVerify,
    certData: certificate,
    keyData: key,
    userAgent,
    traces: true,
  };
  return { config, expiresAt: expiryOf(certificate) };
}

const firstRetryMs = 100;
const maxRetryMs = 2000;

/** Keeps trying while the API server is not there yet: nodes may start before it. */
async function signedCertificate(
  asking: ClientConfig,
  request: string,
  context: IdentityContext,
): Promise<string> {
  const client = createClient(asking, { clock: context.clock, loopback: context.loopback });
  try {
    for (let delay = firstRetryMs; ; delay = Math.min(delay * 2, maxRetryMs)) {
      try {
        return await askOnce(client, request, context);
      } catch (error) {
        if (context.signal.aborted || error instanceof RefusedError) throw error;
        context.logger.debug({ err: error }, 'could not get a client certificate yet');
        await context.clock.sleep(delay, context.signal);
      }
    }
  } finally {
    client.close();
  }
}

class RefusedError extends Error {}

async function askOnce(
  client: ReturnType<typeof createClient>,
  request: string,
  { signal }: IdentityContext,
): Promise<string> {
  const requests = client.for(CertificateSigningRequests);
  const created = await requests.create(
    {
      metadata: { generateName: 'csr-' },
      spec: {
        request: Buffer.from(request).toString('base64'),
        signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
        usages: ['digital signature', 'client auth'],
      },
    },
    { signal },
  );
  const { name, resourceVersion } = created.metadata;
  const watch = requests.watch({ fieldSelector: `metadata.name=${name}`, resourceVersion, signal });
  for await (const event of watch) {
    if (event.type === 'ERROR' || event.type === 'BOOKMARK') continue;
    if (event.type === 'DELETED') break;
    const certificate = certificateOf(event.object);
    if (certificate) return certificate;
  }
  const certificate = certificateOf(await requests.get(name, { signal }));
  if (!certificate) throw new Error(`CertificateSigningRequest ${name} is not signed yet`);
  return certificate;
}

function certificateOf({ metadata, status }: CertificateSigningRequest): string | undefined {
  const bad = status?.conditions?.find((c) => c.type === 'Denied' || c.type === 'Failed');
  if (bad)
    throw new RefusedError(
      `CertificateSigningRequest ${metadata.name} ${bad.type}: ${bad.message ?? bad.reason ?? ''}`,
    );
  return status?.certificate ? Buffer.from(status.certificate, 'base64').toString() : undefined;
}

/** `kubelet-client-<time>.pem` and the symlink `kubelet-client-current.pem`, as upstream's certificate store. */
async function storePair(
  directory: string,
  { certificate, key, now }: { certificate: string; key: string; now: number },
): Promise<string> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const stamp = new Date(now).toISOString().slice(0, 19).replace(/:/g, '-').replace('T', '-');
  const name = `kubelet-client-${stamp}.pem`;
  await writeFile(join(directory, name), `${certificate.trimEnd()}\n${key}`, { mode: 0o600 });
  const current = join(directory, 'kubelet-client-current.pem');
  const temporary = `${current}.new`;
  await rm(temporary, { force: true });
  await symlink(name, temporary);
  await rename(temporary, current);
  return current;
}

function kubeconfigOf({ server, caData, insecureSkipTLSVerify }: ClientConfig, pemFile: string): object {
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: 'default-cluster',
        cluster: {
          server,
          ...(caData ? { 'certificate-authority-data': Buffer.from(caData).toString('base64') } : {}),
          ...(insecureSkipTLSVerify ? { 'insecure-skip-tls-verify': true } : {}),
        },
      },
    ],
    users: [{ name: 'default-auth', user: { 'client-certificate': pemFile, 'client-key': pemFile } }],
    contexts: [{ name: 'default-context', context: { cluster: 'default-cluster', user: 'default-auth' } }],
    'current-context': 'default-context',
  };
}
