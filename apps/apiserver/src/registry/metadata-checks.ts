/**
 * How often upstream's validation of a kind goes through metadata when an object is updated, besides what is the same
 * for all kinds. Every passage tells its findings again, and clients see each.
 */
export interface MetadataChecks {
  /** Passages that look at what an update may not change. */
  readonly updates: number;
  /** Passages that look at the object as if it were new, by `pkg/apis/core/validation`, which knows finalizers. */
  readonly core: number;
  /** Passages of `apimachinery/pkg/api/validation`, to which finalizers are names like others. */
  readonly generic: number;
}

const usual: MetadataChecks = { updates: 1, core: 1, generic: 0 };

const unusual: ReadonlyArray<readonly [checks: MetadataChecks, resources: readonly string[]]> = [
  [
    { updates: 1, core: 2, generic: 0 },
    [
      '/configmaps',
      '/endpoints',
      '/namespaces',
      '/nodes',
      '/persistentvolumeclaims',
      '/pods',
      '/secrets',
      '/serviceaccounts',
      'apps/controllerrevisions',
      'batch/jobs',
      'networking.k8s.io/ingressclasses',
      'networking.k8s.io/ingresses',
      'networking.k8s.io/ipaddresses',
      'rbac.authorization.k8s.io/clusterrolebindings',
      'rbac.authorization.k8s.io/clusterroles',
      'rbac.authorization.k8s.io/rolebindings',
      'rbac.authorization.k8s.io/roles',
      'resource.k8s.io/deviceclasses',
      'resource.k8s.io/resourceclaims',
      'resource.k8s.io/resourceclaimtemplates',
      'storage.k8s.io/csistoragecapacities',
      'storage.k8s.io/storageclasses',
      'storage.k8s.io/volumeattributesclasses',
    ],
  ],
  [
    { updates: 0, core: 1, generic: 1 },
    [
      '/limitranges',
      'discovery.k8s.io/endpointslices',
      'flowcontrol.apiserver.k8s.io/flowschemas',
      'flowcontrol.apiserver.k8s.io/prioritylevelconfigurations',
      'storage.k8s.io/csinodes',
      'storage.k8s.io/volumeattachments',
    ],
  ],
  [
    { updates: 0, core: 0, generic: 2 },
    [
      'admissionregistration.k8s.io/mutatingadmissionpolicies',
      'admissionregistration.k8s.io/mutatingadmissionpolicybindings',
      'admissionregistration.k8s.io/mutatingwebhookconfigurations',
      'admissionregistration.k8s.io/validatingadmissionpolicies',
      'admissionregistration.k8s.io/validatingadmissionpolicybindings',
      'admissionregistration.k8s.io/validatingwebhookconfigurations',
    ],
  ],
  [{ updates: 0, core: 0, generic: 1 }, ['/events', 'policy/poddisruptionbudgets']],
  [{ updates: 1, core: 0, generic: 2 }, ['apiregistration.k8s.io/apiservices', 'node.k8s.io/runtimeclasses']],
  [{ updates: 1, core: 0, generic: 1 }, ['coordination.k8s.io/leases']],
  [{ updates: 0, core: 2, generic: 1 }, ['/persistentvolumes']],
];

const checksOf = new Map(unusual.flatMap(([checks, resources]) => resources.map((name) => [name, checks])));

export const metadataChecks = ({ group, resource }: { group: string; resource: string }): MetadataChecks =>
  checksOf.get(`${group}/${resource}`) ?? usual;
