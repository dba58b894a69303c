import type { KubeObject } from '@tinkernetes/api';
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

/** Resources that are served in more than one version, by `group/resource`. */
export const conversions: ReadonlyMap<string, Conversion> = new Map([
  ['/events', events],
  ['events.k8s.io/events', events],
  ['autoscaling/horizontalpodautoscalers', autoscalers],
]);
