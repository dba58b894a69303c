import { network } from './layout';

interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: {
    name: string;
    namespace?: string;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
  };
  [field: string]: unknown;
}

const clusterRoleBinding = (name: string, role: string, subjects: object[]): Manifest => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRoleBinding',
  metadata: { name },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
  subjects,
});

/** The right to have a certificate request of one kind approved automatically. */
const requestRole = (kind: 'nodeclient' | 'selfnodeclient'): Manifest => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: { name: `${requestRolePrefix}${kind}` },
  rules: [
    {
      apiGroups: ['certificates.k8s.io'],
      resources: [`certificatesigningrequests/${kind}`],
      verbs: ['create'],
    },
  ],
});
const requestRolePrefix = 'system:certificates.k8s.io:certificatesigningrequests:';

const group = (name: string) => ({ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name });
const bootstrapGroup = 'system:bootstrappers:kubeadm:default-node-token';

/** What lets nodes join by themselves, as `kubeadm init` sets it up. `token` is `ID.SECRET`. */
export function nodeBootstrapManifests(token: string): Manifest[] {
  const [id = '', secret = ''] = token.split('.');
  return [
    {
      apiVersion: 'v1',
      kind: 'Secret',
      type: 'bootstrap.kubernetes.io/token',
      metadata: { name: `bootstrap-token-${id}`, namespace: 'kube-system' },
      stringData: {
        'auth-extra-groups': bootstrapGroup,
        description: 'Lets the nodes of this cluster join.',
        'token-id': id,
        'token-secret': secret,
        'usage-bootstrap-authentication': 'true',
        'usage-bootstrap-signing': 'true',
      },
    },
    requestRole('nodeclient'),
    requestRole('selfnodeclient'),
    clusterRoleBinding('kubeadm:kubelet-bootstrap', 'system:node-bootstrapper', [group(bootstrapGroup)]),
    clusterRoleBinding('kubeadm:node-autoapprove-bootstrap', `${requestRolePrefix}nodeclient`, [
      group(bootstrapGroup),
    ]),
    clusterRoleBinding(
      'kubeadm:node-autoapprove-certificate-rotation',
      `${requestRolePrefix}selfnodeclient`,
      [group('system:nodes')],
    ),
  ];
}

/** The cluster DNS Service; its EndpointSlice points to where the cluster-dns component listens. */
export function dnsManifests(endpoint: { address: string; port: number }): Manifest[] {
  const labels = {
    'k8s-app': 'kube-dns',
    'kubernetes.io/name': 'CoreDNS',
    // `kubectl cluster-info` lists what has it.
    'kubernetes.io/cluster-service': 'true',
  };
  const port = (protocol: string, name: string) => ({ name, protocol, port: 53, targetPort: endpoint.port });
  return [
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'kube-dns', namespace: 'kube-system', labels },
      spec: { clusterIP: network.dnsServiceIP, ports: [port('UDP', 'dns'), port('TCP', 'dns-tcp')] },
    },
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: {
        name: 'kube-dns',
        namespace: 'kube-system',
        labels: {
          'kubernetes.io/service-name': 'kube-dns',
          'endpointslice.kubernetes.io/managed-by': 'tinkernetes',
        },
      },
      addressType: 'IPv4',
      endpoints: [{ addresses: [endpoint.address], conditions: { ready: true } }],
      ports: [
        { name: 'dns', protocol: 'UDP', port: endpoint.port },
        { name: 'dns-tcp', protocol: 'TCP', port: endpoint.port },
      ],
    },
  ];
}

const dnsRole = 'system:coredns';

/** What cluster-dns may read; CoreDNS's own role. */
export const dnsAccessManifests = (): Manifest[] => [
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: dnsRole },
    rules: [
      {
        apiGroups: [''],
        resources: ['endpoints', 'services', 'pods', 'namespaces'],
        verbs: ['list', 'watch'],
      },
      { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['list', 'watch'] },
    ],
  },
  clusterRoleBinding(dnsRole, dnsRole, [
    { kind: 'ServiceAccount', name: 'kube-dns', namespace: 'kube-system' },
  ]),
];

const policyRole = 'tinkernetes:network-policies';

/** What kube-proxy reads to enforce NetworkPolicies, which upstream's leaves to network plugins. */
export const networkPolicyAccessManifests = (): Manifest[] => [
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: policyRole },
    rules: [
      { apiGroups: [''], resources: ['pods', 'namespaces'], verbs: ['list', 'watch'] },
      { apiGroups: ['networking.k8s.io'], resources: ['networkpolicies'], verbs: ['list', 'watch'] },
    ],
  },
  clusterRoleBinding(policyRole, policyRole, [
    { apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'system:kube-proxy' },
  ]),
];

const csiDriver = 'hostpath.csi.tinkernetes.dev';
const csiController = 'hostpath-csi-controller';
const readOnly = ['get', 'list', 'watch'];

/** What the driver's controllers may do: the rights of external-provisioner, -attacher and -resizer. */
export const storageAccessManifests = (): Manifest[] => [
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: csiController },
    rules: [
      {
        apiGroups: [''],
        resources: ['persistentvolumes'],
        verbs: [...readOnly, 'create', 'delete', 'patch', 'update'],
      },
      // Takes a claim's chosen node back that does not exist: the scheduler chooses anew.
      { apiGroups: [''], resources: ['persistentvolumeclaims'], verbs: [...readOnly, 'patch', 'update'] },
      { apiGroups: [''], resources: ['nodes'], verbs: readOnly },
      { apiGroups: [''], resources: ['persistentvolumeclaims/status'], verbs: ['patch', 'update'] },
      {
        apiGroups: ['storage.k8s.io'],
        resources: ['storageclasses', 'csinodes', 'volumeattributesclasses'],
        verbs: readOnly,
      },
      {
        apiGroups: ['storage.k8s.io'],
        resources: ['volumeattachments', 'volumeattachments/status'],
        verbs: [...readOnly, 'patch', 'update'],
      },
      { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['create', 'patch', 'update'] },
    ],
  },
  clusterRoleBinding(csiController, csiController, [
    { kind: 'ServiceAccount', name: csiController, namespace: 'kube-system' },
  ]),
];

/** The driver, and the class that claims get which name none: volumes that move with their Pods. */
export const storageManifests = (): Manifest[] => [
  {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'CSIDriver',
    metadata: { name: csiDriver },
    spec: {
      attachRequired: true,
      fsGroupPolicy: 'File',
      podInfoOnMount: true,
      volumeLifecycleModes: ['Persistent', 'Ephemeral'],
    },
  },
  {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: {
      name: 'standard',
      annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' },
    },
    provisioner: csiDriver,
    reclaimPolicy: 'Delete',
    volumeBindingMode: 'WaitForFirstConsumer',
    allowVolumeExpansion: true,
  },
];

const plurals: Record<string, string> = {
  Secret: 'secrets',
  Service: 'services',
  EndpointSlice: 'endpointslices',
  ClusterRole: 'clusterroles',
  ClusterRoleBinding: 'clusterrolebindings',
  StorageClass: 'storageclasses',
  CSIDriver: 'csidrivers',
};

/** Where objects of the manifest's kind are. */
export function collectionPath(manifest: Manifest): string {
  const { apiVersion, kind, metadata } = manifest;
  const plural = plurals[kind];
  if (!plural) throw new Error(`add-on of unknown kind ${kind}`);
  const prefix = apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`;
  const scope = metadata.namespace ? `/namespaces/${metadata.namespace}` : '';
  return `${prefix}${scope}/${plural}`;
}

/** Where the manifest is written with server-side apply: applying twice changes nothing. */
export const applyPath = (manifest: Manifest): string =>
  `${collectionPath(manifest)}/${manifest.metadata.name}`;

export type { Manifest };
