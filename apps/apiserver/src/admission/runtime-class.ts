import { RuntimeClasses } from '@tinkernetes/api';
import type { KubeObject, Pod, RuntimeClass, Toleration } from '@tinkernetes/api';
import { deepEqual, quantitiesOf } from '@tinkernetes/apimachinery';
import type { AdmissionAttributes, AdmissionPlugin, StoreRegistry } from '../contracts';
import { concerns, notAdmitted, notAdmittedYet } from './answers';

type ResourceList = Readonly<Record<string, string | number>>;
type PodSpec = NonNullable<Pod['spec']>;

/** Gives Pods the overhead and placement of their RuntimeClass. https://kubernetes.io/docs/concepts/containers/runtime-class/ */
export function runtimeClass(stores: StoreRegistry): AdmissionPlugin {
  const classes = stores.for(RuntimeClasses);
  return {
    name: 'RuntimeClass',
    handles: (a) => a.operation === 'CREATE' && concerns(a, { resource: 'pods' }),
    mutate: (a) => {
      const pod = a.object as Pod;
      if (!pod.spec) return pod;
      const found = classOf(a, pod.spec);
      if (!found) return pod;
      const spec = withScheduling(a, withOverhead(a, pod.spec, found), found);
      return { ...pod, spec } as KubeObject;
    },
    validate: (a) => {
      const { spec } = a.object as Pod;
      if (!spec) return;
      const overhead = spec.overhead;
      if (overhead && Object.keys(overhead).length > 0 && !classOf(a, spec)?.overhead?.podFixed) {
        throw notAdmitted(
          a,
          'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead',
        );
      }
    },
  };

  function classOf(a: AdmissionAttributes, { runtimeClassName: name }: PodSpec): RuntimeClass | undefined {
    if (!name) return undefined;
    const found = classes.peek(name);
    if (!found) throw notAdmittedYet(a, `pod rejected: RuntimeClass "${name}" not found`);
    return found;
  }
}

function withOverhead(a: AdmissionAttributes, spec: PodSpec, { overhead }: RuntimeClass): PodSpec {
  const fixed = overhead?.podFixed;
  if (!fixed) return spec;
  const given = spec.overhead ?? {};
  if (Object.keys(given).length > 0 && !sameQuantities(given, fixed)) {
    throw notAdmittedYet(a, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead");
  }
  return { ...spec, overhead: { ...fixed } };
}

function sameQuantities(a: ResourceList, b: ResourceList): boolean {
  const [left, right] = [quantitiesOf(a), quantitiesOf(b)];
  return left.size === right.size && [...left].every(([name, value]) => right.get(name)?.equals(value));
}

function withScheduling(a: AdmissionAttributes, spec: PodSpec, { scheduling }: RuntimeClass): PodSpec {
  if (!scheduling) return spec;
  const given = spec.nodeSelector ?? {};
  const wanted = scheduling.nodeSelector ?? {};
  for (const [key, value] of Object.entries(wanted)) {
    const own = given[key];
    if (own === undefined || own === value) continue;
    throw notAdmittedYet(
      a,
      `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${value}; pod.spec.nodeSelector[${key}] = ${own}`,
    );
  }
  const tolerations = merged(spec.tolerations ?? [], scheduling.tolerations ?? []);
  return {
    ...spec,
    ...(Object.keys(wanted).length > 0 && { nodeSelector: { ...given, ...wanted } }),
    ...(tolerations.length > 0 && { tolerations }),
  };
}

const merged = (own: readonly Toleration[], more: readonly Toleration[]): Toleration[] => [
  ...own,
  ...more.filter((toleration) => !own.some((t) => deepEqual(t, toleration))),
];
