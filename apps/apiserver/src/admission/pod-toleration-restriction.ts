import { Namespaces } from '@tinkernetes/api';
import type { KubeObject, Pod, Toleration } from '@tinkernetes/api';
import { qosClassOf, semanticEqual, StatusError } from '@tinkernetes/apimachinery';
import type { AdmissionAttributes, AdmissionPlugin, StoreRegistry } from '../contracts';
import { concerns } from './answers';

const defaultsAnnotation = 'scheduler.alpha.kubernetes.io/defaultTolerations';
const whitelistAnnotation = 'scheduler.alpha.kubernetes.io/tolerationsWhitelist';

/** Who asks for resources may stay on a node that is short of memory. */
const memoryPressure: Toleration = {
  key: 'node.kubernetes.io/memory-pressure',
  operator: 'Exists',
  effect: 'NoSchedule',
};

/**
 * Pods tolerate what their namespace's annotation adds, and nothing but what its whitelist allows. Source:
 * k8s.io/kubernetes/plugin/pkg/admission/podtolerationrestriction.
 */
export function podTolerationRestriction(stores: StoreRegistry): AdmissionPlugin {
  const annotated = ({ namespace }: AdmissionAttributes, key: string): Toleration[] => {
    const text = stores.for(Namespaces).peek(namespace)?.metadata.annotations?.[key];
    return text ? parse(text) : [];
  };
  return {
    name: 'PodTolerationRestriction',
    handles: (a) =>
      (a.operation === 'CREATE' || a.operation === 'UPDATE') && concerns(a, { resource: 'pods' }),
    mutate: (a) => {
      const pod = a.object as Pod;
      if (!pod.spec) return pod;
      const extra = [
        ...(a.operation === 'CREATE' ? annotated(a, defaultsAnnotation) : []),
        ...(qosClassOf(pod.spec) === 'BestEffort' ? [] : [memoryPressure]),
      ];
      if (extra.length === 0) return pod;
      const tolerations = mergeTolerations([...(pod.spec.tolerations ?? []), ...extra]);
      return { ...pod, spec: { ...pod.spec, tolerations } } as KubeObject;
    },
    validate: (a) => {
      const tolerations = (a.object as Pod).spec?.tolerations ?? [];
      const whitelist = annotated(a, whitelistAnnotation);
      if (whitelist.length === 0) return;
      if (tolerations.every((t) => whitelist.some((allowed) => isSuperset(allowed, t)))) return;
      throw new StatusError(
        'Unknown',
        'pod tolerations (possibly merged with namespace default tolerations) conflict with its namespace whitelist',
      );
    },
  };
}

function parse(text: string): Toleration[] {
  try {
    return JSON.parse(text) as Toleration[];
  } catch (error) {
    throw new StatusError('Unknown', error instanceof Error ? error.message : String(error), {
      cause: error,
    });
  }
}

/** Without those that another one includes; of equal ones the first stays. */
function mergeTolerations(all: readonly Toleration[]): Toleration[] {
  const merged: Toleration[] = [];
  all.forEach((toleration, i) => {
    const isIncluded =
      merged.some((other) => isSuperset(other, toleration)) ||
      all.slice(i + 1).some((other) => !semanticEqual(other, toleration) && isSuperset(other, toleration));
    if (!isIncluded) merged.push(toleration);
  });
  return merged;
}

/** Whether the first tolerates all that the second does. Source: k8s.io/kubernetes/pkg/util/tolerations. */
function isSuperset(wide: Toleration, narrow: Toleration): boolean {
  if (semanticEqual(wide, narrow)) return true;
  const isForAll = !wide.key && wide.operator === 'Exists';
  if (wide.key !== narrow.key && !isForAll) return false;
  if (wide.effect && wide.effect !== narrow.effect) return false;
  if (wide.effect === 'NoExecute' && wide.tolerationSeconds !== undefined) {
    if (narrow.tolerationSeconds === undefined || narrow.tolerationSeconds > wide.tolerationSeconds)
      return false;
  }
  if (wide.operator === 'Exists') return true;
  return (narrow.operator ?? 'Equal') === 'Equal' && (narrow.value ?? '') === (wide.value ?? '');
}
