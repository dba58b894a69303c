import type { FlagSpec, FlagValues } from '@tinkernetes/component-base';

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

export type Flags = FlagValues<typeof flags>;
