/** Where upstream keeps resources whose path is not `/registry/<resource>/`. */
const special: Readonly<Record<string, string>> = {
  '/services': '/registry/services/specs/',
  '/endpoints': '/registry/services/endpoints/',
  '/nodes': '/registry/minions/',
  '/replicationcontrollers': '/registry/controllers/',
  'networking.k8s.io/ingresses': '/registry/ingress/',
  'apiextensions.k8s.io/customresourcedefinitions':
    '/registry/apiextensions.k8s.io/customresourcedefinitions/',
  'apiregistration.k8s.io/apiservices': '/registry/apiregistration.k8s.io/apiservices/',
  'events.k8s.io/events': '/registry/events/',
};

/** The storage prefix of a resource, as upstream lays its keys out. */
export function storagePrefix(group: string, resource: string, custom: boolean): string {
  if (custom) return `/registry/${group}/${resource}/`;
  return special[`${group}/${resource}`] ?? `/registry/${resource}/`;
}
