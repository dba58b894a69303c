import type { DeclType } from '@tinkernetes/cel';

const texts: DeclType = { map: 'string' };
const identity = (name: string, last: string): DeclType => ({
  name,
  fields: { group: 'string', version: 'string', [last]: 'string' },
});

/** `request` of an admission policy. Source: k8s.io/apiserver/pkg/admission/plugin/cel (BuildRequestType). */
export const requestType: DeclType = {
  name: 'kubernetes.AdmissionRequest',
  fields: {
    kind: identity('kubernetes.AdmissionRequest.kind', 'kind'),
    resource: identity('kubernetes.AdmissionRequest.resource', 'resource'),
    subResource: 'string',
    requestKind: identity('kubernetes.AdmissionRequest.requestKind', 'kind'),
    requestResource: identity('kubernetes.AdmissionRequest.requestResource', 'resource'),
    requestSubResource: 'string',
    name: 'string',
    namespace: 'string',
    operation: 'string',
    userInfo: {
      name: 'kubernetes.UserInfo',
      fields: {
        username: 'string',
        uid: 'string',
        groups: { list: 'string' },
        extra: { map: { list: 'string' } },
      },
    },
    dryRun: 'bool',
    options: 'dyn',
  },
};

/** `namespaceObject`: the parts of a Namespace that policies may see. */
export const namespaceType: DeclType = {
  name: 'kubernetes.Namespace',
  fields: {
    metadata: {
      name: 'kubernetes.NamespaceMetadata',
      fields: {
        name: 'string',
        generateName: 'string',
        namespace: 'string',
        labels: texts,
        annotations: texts,
        UID: 'string',
        creationTimestamp: 'timestamp',
        deletionGracePeriodSeconds: 'int',
        deletionTimestamp: 'timestamp',
        generation: 'int',
        resourceVersion: 'string',
        finalizers: { list: 'string' },
      },
    },
    spec: { name: 'kubernetes.NamespaceSpec', fields: { finalizers: { list: 'string' } } },
    status: { name: 'kubernetes.NamespaceStatus', fields: { phase: 'string' } },
  },
};
