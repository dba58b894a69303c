import type { AdmissionAttributes } from '../contracts';

/** An AdmissionRequest (admission.k8s.io/v1) without the objects: also the `request` variable of expressions. */
export function admissionRequest(a: AdmissionAttributes): object {
  const kind = { group: a.group, version: a.version, kind: a.kind };
  const resource = { group: a.group, version: a.version, resource: a.resource };
  const { name: username, uid, groups, extra } = a.user;
  return {
    kind,
    resource,
    ...(a.subresource && { subResource: a.subresource, requestSubResource: a.subresource }),
    requestKind: kind,
    requestResource: resource,
    name: a.name,
    ...(a.namespace && { namespace: a.namespace }),
    operation: a.operation,
    userInfo: { username, ...(uid && { uid }), groups, ...(extra && { extra }) },
    dryRun: a.dryRun,
    options: a.options,
  };
}
