/**
 * Where a resource lives on the wire. `T` is the TypeScript type of its objects; it exists for the compiler only.
 * See https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-uris
 */
export interface ResourceDescriptor<T = KubeObject> {
  /** API group, `''` for the core group. */
  readonly group: string;
  readonly version: string;
  /** Plural, lower case, as in URLs: `deployments`. */
  readonly resource: string;
  readonly kind: string;
  readonly namespaced: boolean;
  /** Never set; carries `T`. */
  readonly __type?: T;
}

/** What every API object has, whatever its kind. Objects are plain JSON values and are never changed in place. */
export interface KubeObject {
  apiVersion?: string;
  kind?: string;
  metadata: import('./generated/types').ObjectMeta;
}

/** An object as a client may send it to create it: no name where `generateName` is used. */
export type Creatable<T extends KubeObject> = Omit<T, 'metadata'> & {
  metadata: Partial<import('./generated/types').ObjectMeta>;
};

/** `{group}/{version}`, or `v1` for the core group: the value of an object's `apiVersion`. */
export function apiVersionOf(resource: Pick<ResourceDescriptor, 'group' | 'version'>): string {
  return resource.group === '' ? resource.version : `${resource.group}/${resource.version}`;
}

/** The group in an `apiVersion`: `apps` of `apps/v1`, `''` of `v1`. */
export const groupOf = (apiVersion: string): string =>
  apiVersion.slice(0, Math.max(0, apiVersion.lastIndexOf('/')));

/** `/api/v1` or `/apis/{group}/{version}`. */
export function apiPathOf(resource: Pick<ResourceDescriptor, 'group' | 'version'>): string {
  return resource.group === '' ? `/api/${resource.version}` : `/apis/${resource.group}/${resource.version}`;
}
