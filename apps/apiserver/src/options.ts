import { dirname, join } from 'node:path';
import type { FlagSpec, FlagValues } from '@tinkernetes/component-base';
import { UsageError } from '@tinkernetes/component-base';

/** The component's flags, under kube-apiserver's names where it has them. */
export const flags = {
  'bind-address': { type: 'string', default: '127.0.0.1', help: 'Address to listen on' },
  'secure-port': {
    type: 'number',
    default: 6443,
    min: 0,
    max: 65535,
    help: 'HTTPS port; 0 for any free one',
  },
  'advertise-address': {
    type: 'string',
    default: '',
    help: 'Address of this server that members of the cluster use (default: the bind address)',
  },
  'client-ca-file': {
    type: 'string',
    default: '',
    help: 'CA bundle that client certificates are checked against',
  },
  'tls-cert-file': {
    type: 'string',
    default: '',
    help: 'Serving certificate; without one a self-signed one is made',
  },
  'tls-private-key-file': { type: 'string', default: '', help: 'Key of the serving certificate' },
  'service-account-issuer': {
    type: 'string',
    default: 'https://kubernetes.default.svc',
    help: 'Issuer of service account tokens',
  },
  'service-account-key-file': {
    type: 'list',
    help: 'Public keys that service account tokens are checked against',
  },
  'service-account-signing-key-file': {
    type: 'string',
    default: '',
    help: 'Key that signs service account tokens',
  },
  'api-audiences': { type: 'list', help: 'Audiences of tokens for this server (default: the issuer)' },
  'proxy-client-cert-file': {
    type: 'string',
    default: '',
    help: 'Certificate that this server shows aggregated servers when it passes requests on',
  },
  'proxy-client-key-file': { type: 'string', default: '', help: 'Key of the proxy client certificate' },
  'requestheader-client-ca-file': {
    type: 'string',
    default: '',
    help: 'CA bundle of proxies in front of this server, which say in headers who asks',
  },
  'requestheader-allowed-names': {
    type: 'list',
    help: "Common names of those proxies' client certificates (default: any)",
  },
  'requestheader-username-headers': { type: 'list', help: 'Headers that name the user' },
  'requestheader-uid-headers': { type: 'list', help: "Headers that hold the user's uid" },
  'requestheader-group-headers': { type: 'list', help: "Headers that name the user's groups" },
  'requestheader-extra-headers-prefix': {
    type: 'list',
    help: 'Beginnings of headers that say more about the user',
  },
  'kubelet-client-certificate': {
    type: 'string',
    default: '',
    help: 'Certificate that this server shows kubelets',
  },
  'kubelet-client-key': { type: 'string', default: '', help: 'Key of the kubelet client certificate' },
  'authorization-mode': { type: 'list', default: ['Node', 'RBAC'], help: 'Authorizers, in order' },
  'authorization-policy-file': {
    type: 'string',
    default: '',
    help: 'Policies of the ABAC authorizer, one JSON object a line',
  },
  'authorization-webhook-config-file': {
    type: 'string',
    default: '',
    help: 'kubeconfig of the server that the Webhook authorizer asks',
  },
  'anonymous-auth': {
    type: 'boolean',
    default: true,
    help: 'Requests without credentials are system:anonymous',
  },
  'enable-bootstrap-token-auth': {
    type: 'boolean',
    default: false,
    help: 'Accept bootstrap tokens (Secrets of type bootstrap.kubernetes.io/token)',
  },
  'token-auth-file': {
    type: 'string',
    default: '',
    help: 'CSV file of static bearer tokens: token,user,uid,"groups"',
  },
  'service-cluster-ip-range': { type: 'string', default: '10.96.0.0/12', help: 'CIDR of cluster IPs' },
  'service-node-port-range': { type: 'string', default: '30000-32767', help: 'Ports for NodePort Services' },
  storage: {
    type: 'string',
    default: '',
    help: 'memory, sqlite:FILE, redis://HOST:PORT, etcd or etcd:ENDPOINTS (default: etcd with --etcd-servers, else memory)',
  },
  'etcd-servers': {
    type: 'list',
    help: 'etcd endpoints: http[s]://[user:password@]HOST:PORT',
  },
  'etcd-cafile': { type: 'string', default: '', help: 'CA of the etcd servers' },
  'etcd-certfile': { type: 'string', default: '', help: 'Client certificate for etcd' },
  'etcd-keyfile': { type: 'string', default: '', help: 'Key of the etcd client certificate' },
  'host-alias': {
    type: 'list',
    help: 'CIDR or address = host address: where emulated addresses are dialled on this host',
  },
  'enable-admission-plugins': {
    type: 'list',
    help: 'Admission plugins to switch on besides the default ones',
  },
  'disable-admission-plugins': { type: 'list', help: 'Admission plugins to switch off' },
  'metrics-api': {
    type: 'boolean',
    default: false,
    help: "Serve metrics.k8s.io from the kubelets' statistics, unless an APIService names a Service that does",
  },
  'openapi-descriptions': {
    type: 'string',
    default: '',
    help: 'JSON file of what types and fields mean, for kubectl explain (default: openapi-descriptions.json beside the running script)',
  },
  'component-health': {
    type: 'list',
    default: [
      'controller-manager=https://127.0.0.1:10257/healthz',
      'scheduler=https://127.0.0.1:10259/healthz',
    ],
    help: 'NAME=URL (or NAME=unix:SOCKET) of what componentstatuses shows',
  },
  'enable-priority-and-fairness': {
    type: 'boolean',
    default: true,
    help: 'Limit requests by FlowSchemas and PriorityLevelConfigurations',
  },
  'max-requests-inflight': {
    type: 'number',
    default: 400,
    min: 0,
    help: 'Requests that read at the same time; with priority and fairness a part of all seats',
  },
  'max-mutating-requests-inflight': {
    type: 'number',
    default: 200,
    min: 0,
    help: 'Requests that write at the same time; with priority and fairness a part of all seats',
  },
  'max-request-body-bytes': {
    type: 'number',
    default: 3 * 1024 * 1024,
    help: 'Larger bodies are refused (413)',
  },
  'min-request-timeout': {
    type: 'number',
    default: 1800,
    help: 'Seconds that a watch without timeoutSeconds is kept at least',
  },
} as const satisfies Record<string, FlagSpec>;

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

type Flags = FlagValues<typeof flags>;

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
