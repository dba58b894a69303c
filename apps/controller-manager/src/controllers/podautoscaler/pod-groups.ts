import type { Container, Pod } from '@tinkernetes/api';
import { isPodTerminal, Quantity } from '@tinkernetes/apimachinery';

/** One Pod's sample of a metric: in thousandths, as all metrics of an autoscaler. */
export interface PodSample {
  value: number;
  /** Epoch milliseconds. */
  timestamp: number;
  windowMs: number;
}
/** By Pod name. */
export type PodSamples = ReadonlyMap<string, PodSample>;

export interface ReadinessRules {
  now: number;
  /** --horizontal-pod-autoscaler-cpu-initialization-period */
  cpuInitializationMs: number;
  /** --horizontal-pod-autoscaler-initial-readiness-delay */
  initialReadinessDelayMs: number;
}

export interface PodGroups {
  readyCount: number;
  /** Their samples say nothing yet. */
  unready: ReadonlySet<string>;
  /** Running, without a sample. */
  missing: ReadonlySet<string>;
  /** On their way out. */
  ignored: ReadonlySet<string>;
}

/** Which Pods' samples count. Source: pkg/controller/podautoscaler/replica_calculator.go groupPods. */
export function groupPods(
  pods: readonly Pod[],
  samples: PodSamples,
  { resource, rules }: { resource: string | undefined; rules: ReadinessRules },
): PodGroups {
  const unready = new Set<string>();
  const missing = new Set<string>();
  const ignored = new Set<string>();
  let readyCount = 0;
  for (const pod of pods) {
    const { name } = pod.metadata;
    const sample = samples.get(name);
    if (pod.metadata.deletionTimestamp || isPodTerminal(pod)) ignored.add(name);
    else if (pod.status?.phase === 'Pending') unready.add(name);
    else if (!sample) missing.add(name);
    else if (resource === 'cpu' && isUnready(pod, sample, rules)) unready.add(name);
    else readyCount++;
  }
  return { readyCount, unready, missing, ignored };
}

/** Start-up costs CPU that says nothing about load: such samples don't count. */
function isUnready(
  { status }: Pod,
  sample: PodSample,
  { now, cpuInitializationMs, initialReadinessDelayMs }: ReadinessRules,
): boolean {
  const condition = status?.conditions?.find(({ type }) => type === 'Ready');
  if (!condition || !status?.startTime) return true;
  const started = Date.parse(status.startTime);
  const changed = Date.parse(condition.lastTransitionTime ?? '') || 0;
  const isFalse = condition.status === 'False';
  if (started + cpuInitializationMs > now) return isFalse || sample.timestamp < changed + sample.windowMs;
  return isFalse && started + initialReadinessDelayMs > changed;
}

/** What each Pod asks for of a resource, in thousandths; throws where one asks for nothing. */
export function requestsOf(
  pods: readonly Pod[],
  resource: string,
  container: string | undefined,
): ReadonlyMap<string, number> {
  return new Map(pods.map((pod) => [pod.metadata.name, requestOf(pod, resource, container)]));
}

function requestOf(pod: Pod, resource: string, container: string | undefined): number {
  const { name } = pod.metadata;
  const ofPod = pod.spec.resources?.requests;
  if (container === undefined && ofPod && Object.keys(ofPod).length > 0) {
    const request = ofPod[resource];
    if (request === undefined) throw new Error(`missing pod-level request for ${resource} in Pod ${name}`);
    return Quantity.parse(request).milliValue();
  }
  const containers = runningContainers(pod).filter((c) => container === undefined || c.name === container);
  if (container !== undefined && containers.length === 0)
    throw new Error(`container ${container} not found in Pod ${name}`);
  return containers.reduce((sum, c) => {
    const request = c.resources?.requests?.[resource];
    if (request === undefined)
      throw new Error(`missing request for ${resource} in container ${c.name} of Pod ${name}`);
    return sum + Quantity.parse(request).milliValue();
  }, 0);
}

const runningContainers = ({ spec }: Pod): Container[] => [
  ...spec.containers,
  ...(spec.initContainers ?? []).filter((c) => c.restartPolicy === 'Always'),
];
