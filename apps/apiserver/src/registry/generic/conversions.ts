import type { KubeObject } from '@tinkernetes/api';
import { convertDefinition } from './convert-definition';
import { convertEvent } from './convert-event';
import { convertAutoscaler } from './convert-autoscaler';

/** How a resource with several versions is stored and converted. */
export interface Conversion {
  /** `group/resource` whose store this resource shares. */
  readonly storageOf: string;
  readonly storageVersion: { group: string; version: string };
  /** The object in another of the resource's versions; the same object where it is in that already. */
  convert(object: KubeObject, apiVersion: string): KubeObject;
}

const events: Conversion = {
  storageOf: '/events',
  storageVersion: { group: '', version: 'v1' },
  convert: convertEvent,
};
const autoscalers: Conversion = {
  storageOf: 'autoscaling/horizontalpodautoscalers',
  storageVersion: { group: 'autoscaling', version: 'v2' },
  convert: convertAutoscaler,
};

/** Served in one version; a kube-apiserver on the same storage keeps them in another. */
const definitions: Conversion = {
  storageOf: 'apiextensions.k8s.io/customresourcedefinitions',
  storageVersion: { group: 'apiextensions.k8s.io', version: 'v1' },
  convert: convertDefinition,
};

/** Resources that are served, or may be found, in more than one version, by `group/resource`. */
export const conversions: ReadonlyMap<string, Conversion> = new Map([
  ['/events', events],
  ['events.k8s.io/events', events],
  ['autoscaling/horizontalpodautoscalers', autoscalers],
  ['apiextensions.k8s.io/customresourcedefinitions', definitions],
]);
