import type { RequestInfo } from '../contracts';
import type { ResourceTable } from '../registry/generic/resource-table';

const objectsPerSeat = 100;
const maxSeats = 10;

/** Long lists take more seats: they cost more. Source: k8s.io/apiserver/pkg/util/flowcontrol/request. */
export function seatsOf(table: ResourceTable, info: RequestInfo): number {
  if (info.verb !== 'list' || info.name) return 1;
  const store = table.lookup(info.apiGroup, info.apiVersion, info.resource)?.store;
  const objects = store?.cache.size ?? 0;
  return Math.min(maxSeats, Math.max(1, Math.ceil(objects / objectsPerSeat)));
}

const longVerbs: ReadonlySet<string> = new Set(['watch', 'proxy']);
const longSubresources: ReadonlySet<string> = new Set(['attach', 'exec', 'proxy', 'log', 'portforward']);

/** Requests that last as long as their client likes. */
export const isLongRunning = ({ verb, subresource }: RequestInfo): boolean =>
  longVerbs.has(verb) || longSubresources.has(subresource);

const readVerbs: ReadonlySet<string> = new Set(['get', 'list', 'watch']);

/** Whether a request only reads. */
export const kindOf = ({ verb }: RequestInfo): 'readOnly' | 'mutating' =>
  readVerbs.has(verb) ? 'readOnly' : 'mutating';
