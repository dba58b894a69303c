import { dirname, join } from 'node:path';
import { UsageError } from '@tinkernetes/component-base';
import type { Flags } from './flags';

/** `from` is an address or CIDR, `to` an address on the host. */
export interface HostAlias {
  from: string;
  to: string;
}

export interface ApiServerOptions {
  bindAddress: string;
  securePort: number;
  advertiseAddress: string;
  clientCaFile?: string;
  tls?: { certFile: string; keyFile: string };
  serviceAccountIssuer: string;
  serviceAccountKeyFiles: readonly string[];
  serviceAccountSigningKeyFile?: string;
  apiAudiences: readonly string[];
  proxyClient?: { certFile: string; keyFile: string };
  requestHeader?: RequestHeaderOptions;
  kubeletClient?: { certFile: string; keyFile: string };
  authorizationModes: readonly string[];
  authorizationPolicyFile?: string;
  authorizationWebhookConfigFile?: string;
  anonymousAuth: boolean;
  bootstrapTokenAuth: boolean;
  tokenAuthFile?: string;
  serviceClusterIpRange: string;
  serviceNodePortRange: { from: number; to: number };
  storage: StorageChoice;
  hostAliases: readonly HostAlias[];
  enableAdmissionPlugins: readonly string[];
  disableAdmissionPlugins: readonly string[];
  metricsApi: boolean;
  /** Need not exist. */
  openApiDescriptionsFile: string;
  componentHealth: readonly { name: string; url: string }[];
  priorityAndFairness: boolean;
  maxRequestsInflight: number;
  maxMutatingRequestsInflight: number;
  maxRequestBodyBytes: number;
  minRequestTimeoutSeconds: number;
}

/** Whom this server believes in what headers say about the user. */
export interface RequestHeaderOptions {
  clientCaFile: string;
  allowedNames: readonly string[];
  usernameHeaders: readonly string[];
  uidHeaders: readonly string[];
  groupHeaders: readonly string[];
  extraHeaderPrefixes: readonly string[];
}

export type StorageChoice =
  | { kind: 'memory' }
  | { kind: 'sqlite'; file: string }
  | { kind: 'redis'; url: string }
  | { kind: 'etcd'; servers: readonly string[]; caFile?: string; certFile?: string; keyFile?: string };

export function toOptions(f: Flags): ApiServerOptions {
  return {
    bindAddress: f['bind-address'],
    securePort: f['secure-port'],
    advertiseAddress: f['advertise-address'] || f['bind-address'],
    clientCaFile: f['client-ca-file'] || undefined,
    tls: pair(f['tls-cert-file'], f['tls-private-key-file'], '--tls-cert-file and --tls-private-key-file'),
    serviceAccountIssuer: f['service-account-issuer'],
    serviceAccountKeyFiles: f['service-account-key-file'],
    serviceAccountSigningKeyFile: f['service-account-signing-key-file'] || undefined,
    apiAudiences: f['api-audiences'].length ? f['api-audiences'] : [f['service-account-issuer']],
    proxyClient: pair(
      f['proxy-client-cert-file'],
      f['proxy-client-key-file'],
      '--proxy-client-cert-file and --proxy-client-key-file',
    ),
    requestHeader: requestHeader(f),
    kubeletClient: pair(
      f['kubelet-client-certificate'],
      f['kubelet-client-key'],
      '--kubelet-client-certificate and --kubelet-client-key',
    ),
    authorizationModes: f['authorization-mode'],
    authorizationPolicyFile: f['authorization-policy-file'] || undefined,
    authorizationWebhookConfigFile: f['authorization-webhook-config-file'] || undefined,
    anonymousAuth: f['anonymous-auth'],
    bootstrapTokenAuth: f['enable-bootstrap-token-auth'],
    tokenAuthFile: f['token-auth-file'] || undefined,
    serviceClusterIpRange: f['service-cluster-ip-range'],
    serviceNodePortRange: portRange(f['service-node-port-range']),
    storage: storageChoice(f),
    hostAliases: f['host-alias'].map(hostAlias),
    enableAdmissionPlugins: f['enable-admission-plugins'],
    disableAdmissionPlugins: f['disable-admission-plugins'],
    metricsApi: f['metrics-api'],
    openApiDescriptionsFile:
      f['openapi-descriptions'] || join(dirname(process.argv[1] ?? ''), 'openapi-descriptions.json'),
    componentHealth: f['component-health'].map(componentHealth),
    priorityAndFairness: f['enable-priority-and-fairness'],
    maxRequestsInflight: f['max-requests-inflight'],
    maxMutatingRequestsInflight: f['max-mutating-requests-inflight'],
    maxRequestBodyBytes: f['max-request-body-bytes'],
    minRequestTimeoutSeconds: f['min-request-timeout'],
  };
}

function requestHeader(f: Flags): RequestHeaderOptions | undefined {
  const clientCaFile = f['requestheader-client-ca-file'];
  const usernameHeaders = f['requestheader-username-headers'];
  if (!clientCaFile) return undefined;
  if (!usernameHeaders.length) {
    throw new UsageError('--requestheader-client-ca-file needs --requestheader-username-headers');
  }
  return {
    clientCaFile,
    usernameHeaders,
    allowedNames: f['requestheader-allowed-names'],
    uidHeaders: f['requestheader-uid-headers'],
    groupHeaders: f['requestheader-group-headers'],
    extraHeaderPrefixes: f['requestheader-extra-headers-prefix'],
  };
}

function pair(certFile: string, keyFile: string, names: string) {
  if (!certFile && !keyFile) return undefined;
  if (!certFile || !keyFile) throw new UsageError(`${names} belong together: give both or none`);
  return { certFile, keyFile };
}

function portRange(text: string): { from: number; to: number } {
  const match = /^(\d+)-(\d+)$/.exec(text);
  const from = Number(match?.[1]);
  const to = Number(match?.[2]);
  if (!match || from > to || to > 65535) {
    throw new UsageError(`--service-node-port-range=${text}: must be FROM-TO, e.g. 30000-32767`);
  }
  return { from, to };
}

function hostAlias(text: string): HostAlias {
  const [from, to, ...rest] = text.split('=');
  if (!from || !to || rest.length) {
    throw new UsageError(`--host-alias=${text}: must be CIDR=ADDRESS, e.g. 172.30.0.0/16=127.0.0.1`);
  }
  return { from, to };
}

function componentHealth(text: string): { name: string; url: string } {
  const at = text.indexOf('=');
  const [name, url] = [text.slice(0, at), text.slice(at + 1)];
  if (at < 1 || !/^(https?:\/\/|unix:\/)/.test(url)) {
    throw new UsageError(
      `--component-health=${text}: must be NAME=URL, e.g. scheduler=https://127.0.0.1:10259/healthz`,
    );
  }
  return { name, url };
}

function storageChoice(f: Flags): StorageChoice {
  const text = f.storage || (f['etcd-servers'].length ? 'etcd' : 'memory');
  if (text === 'memory') return { kind: 'memory' };
  if (text.startsWith('sqlite:') && text.length > 7) return { kind: 'sqlite', file: text.slice(7) };
  if (/^rediss?:\/\//.test(text)) return { kind: 'redis', url: text };
  if (text === 'etcd' || text.startsWith('etcd:')) {
    const servers = text === 'etcd' ? f['etcd-servers'] : text.slice('etcd:'.length).split(',');
    if (!servers.some(Boolean)) throw new UsageError('--storage=etcd needs --etcd-servers');
    const certified = pair(f['etcd-certfile'], f['etcd-keyfile'], '--etcd-certfile and --etcd-keyfile');
    return {
      kind: 'etcd',
      servers,
      caFile: f['etcd-cafile'] || undefined,
      ...certified,
    };
  }
  throw new UsageError(
    `--storage=${text}: must be memory, sqlite:FILE, redis://HOST:PORT, etcd or etcd:ENDPOINTS`,
  );
}
