import type { KubeObject } from '@tinkernetes/api';

/** How a resource with several versions is stored and converted. */
export interface Conversion {
  /** `group/resource` whose store this resource shares. */
  readonly storageOf?: string;
  readonly storageVersion: { group: string; version: string };
  convert(object: KubeObject, apiVersion: string): KubeObject;
}

/** Resources that are served in more than one version, by `group/resource`. */
export const conversions: ReadonlyMap<string, Conversion> = new Map<string, Conversion>();
