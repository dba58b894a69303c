import type { EndpointSlice, Node, Service } from '@tinkernetes/api';
import { keyOf } from '@tinkernetes/apimachinery';
import type { Lister } from '@tinkernetes/informers';
import type { Rule } from '@tinkernetes/vnet';
import { podCIDRsOf } from './node-routes';
import { serviceRules } from './service-rules';

export const serviceIndex = 'service';
const serviceNameLabel = 'kubernetes.io/service-name';
const zoneLabel = 'topology.kubernetes.io/zone';

/** For the slices' informer: `namespace/name` of the Service that a slice belongs to. */
export function serviceOfSlice(slice: EndpointSlice): readonly string[] {
  const name = slice.metadata.labels?.[serviceNameLabel];
  return name ? [`${slice.metadata.namespace}/${name}`] : [];
}

interface Kept {
  service: Service;
  slices: readonly EndpointSlice[];
  rules: readonly Rule[];
}

/** All rules of a node. Those of Services that did not change since the last time are kept. */
export class RuleTable {
  private kept = new Map<string, Kept>();
  private node: Node | undefined;

  constructor(private readonly nodeName: string) {}

  build(services: readonly Service[], slices: Lister<EndpointSlice>, node: Node | undefined): Rule[] {
    const reusable = sameTopology(node, this.node) ? this.kept : new Map<string, Kept>();
    this.node = node;
    const topology = { nodeName: this.nodeName, zone: node?.metadata.labels?.[zoneLabel] };
    const podCIDRs = podCIDRsOf(node);
    const next = new Map<string, Kept>();
    for (const service of services) {
      const key = keyOf(service);
      const own = slices.byIndex(serviceIndex, key);
      const known = reusable.get(key);
      const fresh = known?.service === service && known.slices === own;
      const rules = fresh ? known.rules : serviceRules({ service, slices: own, topology, podCIDRs });
      next.set(key, { service, slices: own, rules });
    }
    this.kept = next;
    return [...next.values()].flatMap(({ rules }) => rules);
  }
}

function sameTopology(a: Node | undefined, b: Node | undefined): boolean {
  return (
    a?.metadata.labels?.[zoneLabel] === b?.metadata.labels?.[zoneLabel] &&
    podCIDRsOf(a).join() === podCIDRsOf(b).join()
  );
}
