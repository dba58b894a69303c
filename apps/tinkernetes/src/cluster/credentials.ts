import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { createClient, loadKubeconfig, type Client } from '@tinkernetes/client';
import {
  createCertificateAuthority,
  createServiceAccountKeyPair,
  issueCertificate,
  type CertificateAuthority,
} from '@tinkernetes/pki';
import type { ClusterOptions } from '../options';
import { identities, kubeletClientIdentity } from './identities';
import { kubeconfigText } from './kubeconfigs';
import { network, type ClusterLayout } from './layout';
import { writeAtomically, type ClusterState } from './state';

/** Where clients on this machine reach the API server. */
export function serverUrl(bind: string, port: number): string {
  const host =
    bind === '0.0.0.0' ? '127.0.0.1' : bind === '::' ? '[::1]' : bind.includes(':') ? `[${bind}]` : bind;
  return `https://${host}:${port}`;
}

interface CredentialOptions {
  layout: ClusterLayout;
  options: ClusterOptions;
  state: ClusterState;
  /** Epoch milliseconds. */
  now: number;
}

/** Makes the cluster's CA, certificates and keys at the first start, and the kubeconfigs at each. */
export async function ensureCredentials({ layout, options, state, now }: CredentialOptions): Promise<void> {
  const ca = await ensureAuthority(layout, now);
  const server = serverUrl(options.bind, state.apiPort);
  await Promise.all([
    ensureServiceAccountKeys(layout),
    ensureServingCertificate(layout, { ca, now, bind: options.bind }),
    ensureCertificate(layout, { ca, now, name: 'apiserver-kubelet-client', ...kubeletClientIdentity }),
    ...identities.map(async ({ component, commonName, organizations }) => {
      await ensureCertificate(layout, { ca, now, name: component, commonName, organizations });
      const [certificate, key] = await Promise.all([
        readFile(layout.pki(`${component}.crt`), 'utf8'),
        readFile(layout.pki(`${component}.key`), 'utf8'),
      ]);
      const text = kubeconfigText({
        server,
        ca: ca.certificate,
        user: commonName,
        credential: { certificate, key },
      });
      await writeAtomically(layout.componentKubeconfig(component), text);
      if (component === 'admin') await writeAtomically(options.kubeconfig, text);
    }),
    writeAtomically(
      layout.componentKubeconfig('bootstrap-kubelet'),
      kubeconfigText({
        server,
        ca: ca.certificate,
        user: 'tls-bootstrap',
        credential: { token: state.bootstrapToken },
      }),
    ),
  ]);
}

export async function adminClient(layout: ClusterLayout): Promise<Client> {
  const config = await loadKubeconfig(layout.componentKubeconfig('admin'), { userAgent: 'tinkernetes' });
  return createClient(config);
}

async function ensureAuthority(layout: ClusterLayout, now: number): Promise<CertificateAuthority> {
  if (existsSync(layout.pki('ca.key'))) {
    const [certificate, key] = await Promise.all([
      readFile(layout.pki('ca.crt'), 'utf8'),
      readFile(layout.pki('ca.key'), 'utf8'),
    ]);
    return { certificate, key };
  }
  const ca = await createCertificateAuthority({ commonName: 'kubernetes', now });
  await writePair(layout, 'ca', ca);
  return ca;
}

async function ensureServiceAccountKeys(layout: ClusterLayout): Promise<void> {
  if (existsSync(layout.pki('sa.key'))) return;
  const { publicKey, privateKey } = await createServiceAccountKeyPair();
  await writeAtomically(layout.pki('sa.pub'), publicKey);
  await writeAtomically(layout.pki('sa.key'), privateKey);
}

async function ensureServingCertificate(
  layout: ClusterLayout,
  options: { ca: CertificateAuthority; now: number; bind: string },
): Promise<void> {
  if (existsSync(layout.pki('apiserver.key'))) return;
  const { ca, now, bind } = options;
  const domain = network.clusterDomain;
  const wildcard = bind === '0.0.0.0' || bind === '::';
  await writePair(
    layout,
    'apiserver',
    await issueCertificate(ca, {
      commonName: 'kube-apiserver',
      usages: ['serverAuth'],
      dnsNames: [
        'kubernetes',
        'kubernetes.default',
        'kubernetes.default.svc',
        `kubernetes.default.svc.${domain}`,
        'localhost',
        hostname(),
      ],
      ipAddresses: [
        '127.0.0.1',
        '::1',
        network.kubernetesServiceIP,
        network.controlPlaneAddress,
        ...(wildcard || bind === '127.0.0.1' ? [] : [bind]),
      ],
      now,
    }),
  );
}

interface ClientCertificateOptions {
  ca: CertificateAuthority;
  now: number;
  name: string;
  commonName: string;
  organizations: readonly string[];
}

async function ensureCertificate(
  layout: ClusterLayout,
  { ca, now, name, commonName, organizations }: ClientCertificateOptions,
): Promise<void> {
  if (existsSync(layout.pki(`${name}.key`))) return;
  await writePair(
    layout,
    name,
    await issueCertificate(ca, { commonName, organizations, usages: ['clientAuth'], now }),
  );
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
