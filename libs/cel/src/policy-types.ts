import {
  bool,
  dyn,
  int,
  listOf,
  mapOf,
  parseType,
  string,
  structOf,
  timestamp,
  type CelType,
} from './check/cel-type';

const texts = mapOf(string, string);
const identity = (name: string, last: string): CelType =>
  structOf(name, { group: string, version: string, [last]: string });
const kind = identity('kubernetes.GroupVersionKind', 'kind');
const resource = identity('kubernetes.GroupVersionResource', 'resource');

/** `request` of an admission policy. Source: k8s.io/apiserver/pkg/admission/plugin/cel (BuildRequestType). */
export const requestType: CelType = structOf('kubernetes.AdmissionRequest', {
  kind,
  resource,
  subResource: string,
  requestKind: kind,
  requestResource: resource,
  requestSubResource: string,
  name: string,
  namespace: string,
  operation: string,
  userInfo: structOf('kubernetes.UserInfo', {
    username: string,
    uid: string,
    groups: listOf(string),
    extra: mapOf(string, listOf(string)),
  }),
  dryRun: bool,
  options: dyn,
});

/** `namespaceObject`: the parts of a Namespace that policies may see. Source: the same (BuildNamespaceType). */
export const namespaceType: CelType = structOf('kubernetes.Namespace', {
  metadata: structOf('kubernetes.NamespaceMetadata', {
    name: string,
    generateName: string,
    namespace: string,
    labels: texts,
    annotations: texts,
    UID: string,
    creationTimestamp: timestamp,
    deletionGracePeriodSeconds: int,
    deletionTimestamp: timestamp,
    generation: int,
    resourceVersion: string,
    finalizers: listOf(string),
  }),
  spec: structOf('kubernetes.NamespaceSpec', { finalizers: listOf(string) }),
  status: structOf('kubernetes.NamespaceStatus', {
    conditions: listOf(
      structOf('kubernetes.NamespaceCondition', {
        status: string,
        type: string,
        lastTransitionTime: timestamp,
        message: string,
        reason: string,
      }),
    ),
    phase: string,
  }),
});

/** What asks the authorizer. */
export const authorizerTypes: Readonly<Record<string, CelType>> = {
  authorizer: parseType('kubernetes.authorization.Authorizer'),
  'authorizer.requestResource': parseType('kubernetes.authorization.ResourceCheck'),
};
