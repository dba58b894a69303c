import type { Container, Pod, PodSpec } from '@tinkernetes/api';
import { Quantity } from '../quantity';
import { isRestartableInitContainer } from './pod-status';

/** Resource name → quantity. */
export type ResourceQuantities = ReadonlyMap<string, Quantity>;
type Kind = 'requests' | 'limits';

export function quantitiesOf(
  list: Readonly<Record<string, string | number>> | undefined,
): Map<string, Quantity> {
  return new Map(Object.entries(list ?? {}).map(([name, value]) => [name, Quantity.parse(value)]));
}

function addQuantities(a: ResourceQuantities, b: ResourceQuantities): Map<string, Quantity> {
  const sum = new Map(a);
  for (const [name, quantity] of b) sum.set(name, (sum.get(name) ?? Quantity.zero).add(quantity));
  return sum;
}

function maxQuantities(a: ResourceQuantities, b: ResourceQuantities): Map<string, Quantity> {
  const max = new Map(a);
  for (const [name, quantity] of b) {
    const current = max.get(name);
    if (!current || quantity.compare(current) > 0) max.set(name, quantity);
  }
  return max;
}

const ofContainer = (container: Container, kind: Kind): Map<string, Quantity> =>
  quantitiesOf(container.resources?.[kind]);

/** The larger of what ordinary containers with sidecars need, and each init container with the sidecars before it. */
export function aggregateContainers(spec: PodSpec, kind: Kind): Map<string, Quantity> {
  let running = new Map<string, Quantity>();
  for (const container of spec.containers) running = addQuantities(running, ofContainer(container, kind));
  let sidecars = new Map<string, Quantity>();
  let initPeak = new Map<string, Quantity>();
  for (const container of spec.initContainers ?? []) {
    const own = ofContainer(container, kind);
    if (isRestartableInitContainer(container)) {
      running = addQuantities(running, own);
      sidecars = addQuantities(sidecars, own);
      initPeak = maxQuantities(initPeak, sidecars);
    } else {
      initPeak = maxQuantities(initPeak, addQuantities(own, sidecars));
    }
  }
  return maxQuantities(running, initPeak);
}

/** Pod-level resources replace the containers' for the names that they give. */
function withPodLevel(sum: Map<string, Quantity>, spec: PodSpec, kind: Kind): Map<string, Quantity> {
  return new Map([...sum, ...quantitiesOf(spec.resources?.[kind])]);
}

/**
 * What the scheduler and the node account a Pod with: containers, init containers, sidecars, pod level, overhead.
 * Source: k8s.io/component-helpers/resource.PodRequests; KEP-753 (sidecars), KEP-688 (overhead), KEP-2837.
 */
export function podRequests(pod: Pick<Pod, 'spec'>): Map<string, Quantity> {
  const { spec } = pod;
  if (!spec) return new Map();
  const sum = withPodLevel(aggregateContainers(spec, 'requests'), spec, 'requests');
  return addQuantities(sum, quantitiesOf(spec.overhead));
}

/** As `podRequests`, of limits; overhead counts only for resources that are limited. */
export function podLimits(pod: Pick<Pod, 'spec'>): Map<string, Quantity> {
  const { spec } = pod;
  if (!spec) return new Map();
  const sum = withPodLevel(aggregateContainers(spec, 'limits'), spec, 'limits');
  for (const [name, overhead] of quantitiesOf(spec.overhead)) {
    const limit = sum.get(name);
    if (limit) sum.set(name, limit.add(overhead));
  }
  return sum;
}

export type QosClass = 'Guaranteed' | 'Burstable' | 'BestEffort';

/** Source: https://kubernetes.io/docs/concepts/workloads/pods/pod-qos/ and pkg/apis/core/v1/helper/qos. */
export function qosClassOf(spec: PodSpec): QosClass {
  const containers = [...spec.containers, ...(spec.initContainers ?? [])];
  const sources = spec.resources ? [spec.resources] : containers.map((container) => container.resources);
  let requests = new Map<string, Quantity>();
  let limits = new Map<string, Quantity>();
  let isGuaranteed = true;
  for (const resources of sources) {
    const ownRequests = computeOnly(quantitiesOf(resources?.requests));
    const ownLimits = computeOnly(quantitiesOf(resources?.limits));
    requests = addQuantities(requests, ownRequests);
    limits = addQuantities(limits, ownLimits);
    if (!(ownLimits.has('cpu') && ownLimits.has('memory'))) isGuaranteed = false;
  }
  if (requests.size === 0 && limits.size === 0) return 'BestEffort';
  const areEqual =
    requests.size === limits.size &&
    [...requests].every(([name, request]) => limits.get(name)?.equals(request) ?? false);
  return isGuaranteed && areEqual ? 'Guaranteed' : 'Burstable';
}

function computeOnly(list: Map<string, Quantity>): Map<string, Quantity> {
  return new Map(
    [...list].filter(([name, quantity]) => (name === 'cpu' || name === 'memory') && quantity.sign > 0),
  );
}
