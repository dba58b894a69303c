import { PriorityClasses } from '@tinkernetes/api';
import type { KubeObject, Pod, PriorityClass } from '@tinkernetes/api';
import type { AdmissionAttributes, AdmissionPlugin, StoreRegistry } from '../contracts';
import { concerns, notAdmitted, notAdmittedYet } from './answers';

const group = 'scheduling.k8s.io';

/** Turns a Pod's priorityClassName into its number. https://kubernetes.io/docs/concepts/scheduling-eviction/pod-priority-preemption/ */
export function priority(stores: StoreRegistry): AdmissionPlugin {
  const classes = stores.for(PriorityClasses);
  return {
    name: 'Priority',
    handles: (a) =>
      a.operation === 'DELETE'
        ? concerns(a, { group, resource: 'priorityclasses' })
        : (a.operation === 'CREATE' || a.operation === 'UPDATE') &&
          (concerns(a, { resource: 'pods' }) || concerns(a, { group, resource: 'priorityclasses' })),
    mutate: (a) => {
      if (a.resource !== 'pods') return undefined;
      return a.operation === 'CREATE' ? withPriority(a) : keptPriority(a.object as Pod, a.oldObject as Pod);
    },
    validate: (a) => {
      if (a.operation === 'DELETE') checkNotNeeded(a);
      else if (a.resource === 'priorityclasses') checkOneDefault(a);
    },
  };

  function withPriority(a: AdmissionAttributes): KubeObject {
    const pod = a.object as Pod;
    if (!pod.spec) return pod;
    const { spec } = pod;
    const found = spec.priorityClassName ? classNamed(a, spec.priorityClassName) : defaultClass();
    const value = found?.value ?? 0;
    const preemptionPolicy = found?.preemptionPolicy ?? 'PreemptLowerPriority';
    if (spec.priority !== undefined && spec.priority !== null && spec.priority !== value) {
      throw notAdmittedYet(
        a,
        `the integer value of priority (${spec.priority}) must not be provided in pod spec; priority admission controller computed ${value} from the given PriorityClass name`,
      );
    }
    if (spec.preemptionPolicy && spec.preemptionPolicy !== preemptionPolicy) {
      throw notAdmittedYet(
        a,
        `the string value of PreemptionPolicy (${spec.preemptionPolicy}) must not be provided in pod spec; priority admission controller computed ${preemptionPolicy} from the given PriorityClass name`,
      );
    }
    const className = spec.priorityClassName || found?.metadata.name;
    return {
      ...pod,
      spec: {
        ...spec,
        ...(className && { priorityClassName: className }),
        priority: value,
        preemptionPolicy,
      },
    } as KubeObject;
  }

  function classNamed(a: AdmissionAttributes, name: string): PriorityClass {
    const found = classes.peek(name);
    if (!found) throw notAdmittedYet(a, `no PriorityClass with name ${name} was found`);
    return found;
  }

  /** Should there be several, the lowest counts. */
  function defaultClass(): PriorityClass | undefined {
    return classes
      .list()
      .filter((c) => c.globalDefault)
      .reduce<PriorityClass | undefined>(
        (low, c) => (low && (low.value ?? 0) <= (c.value ?? 0) ? low : c),
        undefined,
      );
  }

  function checkOneDefault(a: AdmissionAttributes): void {
    const given = a.object as PriorityClass;
    const other = given.globalDefault ? defaultClass() : undefined;
    if (other && other.metadata.name !== given.metadata.name) {
      throw notAdmitted(
        a,
        `PriorityClass ${other.metadata.name ?? ''} is already marked as default. Only one default can exist`,
      );
    }
  }
}

const systemClasses = ['system-node-critical', 'system-cluster-critical'];

/** The cluster's own Pods need the classes that it came with. */
function checkNotNeeded(a: AdmissionAttributes): void {
  if (systemClasses.includes(a.name)) {
    throw notAdmitted(a, 'this is a system priority class and cannot be deleted');
  }
}

/** Clients that don't know the fields don't lose them. */
function keptPriority(pod: Pod, old: Pod): KubeObject {
  if (!pod.spec || !old.spec) return pod;
  const priority = pod.spec.priority ?? old.spec.priority;
  const preemptionPolicy = pod.spec.preemptionPolicy ?? old.spec.preemptionPolicy;
  if (priority === pod.spec.priority && preemptionPolicy === pod.spec.preemptionPolicy) return pod;
  return {
    ...pod,
    spec: {
      ...pod.spec,
      ...(priority !== undefined && { priority }),
      ...(preemptionPolicy !== undefined && { preemptionPolicy }),
    },
  } as KubeObject;
}
