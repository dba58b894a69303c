/** The identities that upstream's components have. Each gets a client certificate and a kubeconfig. */
export const identities = [
  { component: 'admin', commonName: 'kubernetes-admin', organizations: ['system:masters'] },
  { component: 'controller-manager', commonName: 'system:kube-controller-manager', organizations: [] },
  { component: 'scheduler', commonName: 'system:kube-scheduler', organizations: [] },
  { component: 'kube-proxy', commonName: 'system:kube-proxy', organizations: ['system:node-proxier'] },
  {
    component: 'cluster-dns',
    commonName: 'system:serviceaccount:kube-system:kube-dns',
    organizations: ['system:serviceaccounts', 'system:serviceaccounts:kube-system'],
  },
] as const satisfies ReadonlyArray<{
  component: string;
  commonName: string;
  organizations: readonly string[];
}>;

/** The API server's own identity towards kubelets. */
export const kubeletClientIdentity = {
  commonName: 'kube-apiserver-kubelet-client',
  organizations: ['system:masters'],
} as const;
