import { createPrivateKey, X509Certificate } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { UsageError, type LoopbackNetwork } from '@tinkernetes/component-base';
import { createClient, loadKubeconfig, type Client } from '@tinkernetes/client';
import {
  createCertificateAuthority,
  createServiceAccountKeyPair,
  issueCertificate,
  type CertificateAuthority,
  type CertificatePair,
} from '@tinkernetes/pki';
import { identities, kubeletClientIdentity } from './identities';
import { componentKubeconfigText, userKubeconfigText } from './kubeconfigs';
import { network, type ClusterLayout } from './layout';
import { writeAtomically, type ClusterState } from './state';

/** Where clients on this machine reach the API server. */
export function serverUrl(bind: string, port: number): string {
  const host =
    bind === '0.0.0.0' ? '127.0.0.1' : bind === '::' ? '[::1]' : bind.includes(':') ? `[${bind}]` : bind;
  return `https://${host}:${port}`;
}

export interface CredentialOptions {
  layout: ClusterLayout;
  state: Pick<ClusterState, 'bootstrapToken'>;
  /** URL that components reach the API server by. */
  server: string;
  /** The administrator's kubeconfig goes here too, perhaps with another URL. */
  admin: { file: string; server: string };
  /** What the API server's certificate must be valid for, besides the names and addresses that Pods use. */
  names: { dnsNames: readonly string[]; ipAddresses: readonly string[] };
  /** Epoch milliseconds. */
  now: number;
}

/** Makes the cluster's CA, certificates and keys at the first start, and the kubeconfigs at each. */
export async function ensureCredentials({
  layout,
  state,
  server,
  admin,
  names,
  now,
}: CredentialOptions): Promise<void> {
  const ca = await ensureAuthority(layout, { now, name: 'ca', commonName: 'kubernetes' });
  await Promise.all([
    ensureServiceAccountKeys(layout),
    ensureServingCertificate(layout, { ca, now, names }),
    ensureCertificate(layout, { ca, now, name: 'apiserver-kubelet-client', ...kubeletClientIdentity }),
    ensureFrontProxy(layout, now),
    ...identities.map(async ({ component, commonName, organizations }) => {
      const options = { ca, now, name: component, commonName, organizations };
      const { certificate, key } =
        (await ensureCertificate(layout, options)) ?? (await readPair(layout, component));
      const content = { server, ca: ca.certificate, user: commonName, credential: { certificate, key } };
      await writeAtomically(layout.componentKubeconfig(component), componentKubeconfigText(content));
      if (component === 'admin') {
        await writeAtomically(admin.file, userKubeconfigText({ ...content, server: admin.server }));
      }
    }),
    writeAtomically(
      layout.componentKubeconfig('bootstrap-kubelet'),
      componentKubeconfigText({
        server,
        ca: ca.certificate,
        user: 'tls-bootstrap',
        credential: { token: state.bootstrapToken },
      }),
    ),
  ]);
}

export async function adminClient(layout: ClusterLayout, loopback?: LoopbackNetwork): Promise<Client> {
  const config = await loadKubeconfig(layout.componentKubeconfig('admin'), { userAgent: 'tinkernetes' });
  return createClient(config, { loopback, maxConnections: launcherConnections });
}

/** A start sends its manifests at once: a handshake for each would take longer than they do one after the other. */
const launcherConnections = 2;

async function ensureAuthority(
  layout: ClusterLayout,
  { now, name, commonName }: { now: number; name: string; commonName: string },
): Promise<CertificateAuthority> {
  if (existsSync(layout.pki(`${name}.key`))) return readPair(layout, name);
  const ca = await createCertificateAuthority({ commonName, now });
  await writePair(layout, name, ca);
  return ca;
}

/** By which aggregated servers know the API server: an authority of its own, as kubeadm makes it. */
async function ensureFrontProxy(layout: ClusterLayout, now: number): Promise<void> {
  const ca = await ensureAuthority(layout, { now, name: 'front-proxy-ca', commonName: 'front-proxy-ca' });
  await ensureCertificate(layout, {
    ca,
    now,
    name: 'front-proxy-client',
    commonName: 'front-proxy-client',
    organizations: [],
  });
}

async function ensureServiceAccountKeys(layout: ClusterLayout): Promise<void> {
  if (existsSync(layout.pki('sa.key'))) return;
  const { publicKey, privateKey } = await createServiceAccountKeyPair();
  await writeAtomically(layout.pki('sa.pub'), publicKey);
  await writeAtomically(layout.pki('sa.key'), privateKey);
}

/** Made anew when it isn't valid for a name or address that is wanted now (another `--bind`). */
async function ensureServingCertificate(
  layout: ClusterLayout,
  { ca, now, names }: { ca: CertificateAuthority; now: number; names: CredentialOptions['names'] },
): Promise<void> {
  const dnsNames = [
    'kubernetes',
    'kubernetes.default',
    'kubernetes.default.svc',
    `kubernetes.default.svc.${network.clusterDomain}`,
    'localhost',
    ...names.dnsNames,
  ];
  const ipAddresses = ['127.0.0.1', '::1', network.kubernetesServiceIP, ...names.ipAddresses];
  if (existsSync(layout.pki('apiserver.key'))) {
    const present = new X509Certificate(await readFile(layout.pki('apiserver.crt')));
    const isValid =
      dnsNames.every((n) => present.checkHost(n)) && ipAddresses.every((ip) => present.checkIP(ip));
    if (isValid) return;
  }
  const pair = await issueCertificate(ca, {
    commonName: 'kube-apiserver',
    usages: ['serverAuth'],
    dnsNames,
    ipAddresses,
    now,
  });
  await writePair(layout, 'apiserver', pair);
}

interface ClientCertificateOptions {
  ca: CertificateAuthority;
  now: number;
  name: string;
  commonName: string;
  organizations: readonly string[];
}

/** The pair, where it had to be made. */
async function ensureCertificate(
  layout: ClusterLayout,
  { ca, now, name, commonName, organizations }: ClientCertificateOptions,
): Promise<CertificatePair | undefined> {
  if (existsSync(layout.pki(`${name}.key`))) return undefined;
  const pair = await issueCertificate(ca, { commonName, organizations, usages: ['clientAuth'], now });
  await writePair(layout, name, pair);
  return pair;
}

/** Throws a UsageError when the files are damaged or don't belong together. */
async function readPair(layout: ClusterLayout, name: string): Promise<CertificatePair> {
  try {
    const [certificate, key] = await Promise.all([
      readFile(layout.pki(`${name}.crt`), 'utf8'),
      readFile(layout.pki(`${name}.key`), 'utf8'),
    ]);
    if (!new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key)))
      throw new Error('they do not belong together');
    return { certificate, key };
  } catch (error) {
    throw new UsageError(
      `${layout.pki(`${name}.crt`)} and its key are damaged (${(error as Error).message}): restore them, or choose another --data-dir`,
      { cause: error },
    );
  }
}

/** The key last: its presence means that the pair is complete. */
async function writePair(
  layout: ClusterLayout,
  name: string,
  pair: { certificate: string; key: string },
): Promise<void> {
  await writeAtomically(layout.pki(`${name}.crt`), pair.certificate);
  await writeAtomically(layout.pki(`${name}.key`), pair.key);
}
