import { Namespaces, Pods } from '@tinkernetes/api';
import type { KubeObject, Namespace, Pod } from '@tinkernetes/api';
import { deepEqual, invalidError } from '@tinkernetes/apimachinery';
import type { AdmissionAttributes, AdmissionPlugin, StoreRegistry } from '../../contracts';
import { notAdmitted } from '../answers';
import type { PodMetadata, PodSpec } from './check';
import { describeLevel, describeViolations, evaluate, type LevelVersion } from './evaluate';
import { policyOf } from './policy';
import { podTemplateOf } from './pod-template';

const levelOrder = ['privileged', 'baseline', 'restricted'];
const maxPodsToCheck = 3000;
/** Subresources of Pods that change nothing of their spec. */
const harmless: ReadonlySet<string> = new Set([
  'attach',
  'binding',
  'eviction',
  'exec',
  'log',
  'portforward',
  'proxy',
  'status',
]);

/**
 * Enforces the Pod Security Standards by namespace labels. The audit mode has no audit log to write to.
 * Source: https://kubernetes.io/docs/concepts/security/pod-security-admission/
 */
export function podSecurity(stores: StoreRegistry): AdmissionPlugin {
  const namespaces = stores.for(Namespaces);
  return {
    name: 'PodSecurity',
    handles: (a) => (a.operation === 'CREATE' || a.operation === 'UPDATE') && a.object !== undefined,
    validate: (a) => {
      if (a.group === '' && a.resource === 'namespaces') {
        if (a.subresource === '') checkNamespace(a);
      } else if (a.group === '' && a.resource === 'pods') {
        if (!harmless.has(a.subresource)) checkPod(a);
      } else if (a.subresource === '') warnOfTemplate(a);
    },
  };

  function checkNamespace(a: AdmissionAttributes): void {
    const policy = policyOf((a.object as Namespace).metadata.labels);
    const old = a.oldObject && policyOf((a.oldObject as Namespace).metadata.labels);
    if (policy.errors.length > 0 && !(old && deepEqual(old.errors, policy.errors))) {
      throw invalidError({ group: '', kind: 'Namespace' }, a.name, policy.errors);
    }
    if (!old || deepEqual(old.enforce, policy.enforce) || policy.enforce.level === 'privileged') return;
    const relaxed = levelOrder.indexOf(policy.enforce.level) <= levelOrder.indexOf(old.enforce.level);
    if (policy.enforce.version === old.enforce.version && relaxed) return;
    warnOfPods(a, policy.enforce);
  }

  /** Pods that are there already stay; who made the policy stricter learns of them. */
  function warnOfPods(a: AdmissionAttributes, level: LevelVersion): void {
    const pods = stores.for(Pods).list(a.name).slice(0, maxPodsToCheck);
    const byReasons = new Map<string, string[]>();
    for (const pod of pods) {
      const violations = pod.spec ? evaluate(level, pod.spec, pod.metadata) : [];
      if (violations.length === 0) continue;
      const reasons = violations.map((v) => v.reason).join(', ');
      byReasons.set(reasons, [...(byReasons.get(reasons) ?? []), pod.metadata.name ?? '']);
    }
    if (byReasons.size === 0) return;
    a.warn(
      `existing pods in namespace "${a.name}" violate the new PodSecurity enforce level "${describeLevel(level)}"`,
    );
    const lines = [...byReasons].map(([reasons, names]) => {
      const [first = ''] = names.sort();
      const others = names.length - 1;
      const who = others === 0 ? first : `${first} (and ${others} other ${others === 1 ? 'pod' : 'pods'})`;
      return `${who}: ${reasons}`;
    });
    for (const line of lines.sort()) a.warn(line);
  }

  function checkPod(a: AdmissionAttributes): void {
    const pod = a.object as Pod;
    if (!pod.spec || (a.operation === 'UPDATE' && !isSignificantUpdate(pod, a.oldObject as Pod))) return;
    const { enforce, warn } = policyOf(namespaces.peek(a.namespace)?.metadata.labels);
    const violations = evaluate(enforce, pod.spec, pod.metadata);
    if (violations.length > 0) {
      throw notAdmitted(
        a,
        `violates PodSecurity "${describeLevel(enforce)}": ${describeViolations(violations)}`,
      );
    }
    warnOf(a, warn, { spec: pod.spec, metadata: pod.metadata });
  }

  function warnOfTemplate(a: AdmissionAttributes): void {
    const template = podTemplateOf(a.group, a.resource, a.object as KubeObject);
    if (!template?.spec) return;
    const { warn } = policyOf(namespaces.peek(a.namespace)?.metadata.labels);
    warnOf(a, warn, { spec: template.spec, metadata: template.metadata ?? {} });
  }
}

function warnOf(
  a: AdmissionAttributes,
  level: LevelVersion,
  { spec, metadata }: { spec: PodSpec; metadata: PodMetadata },
): void {
  const violations = evaluate(level, spec, metadata);
  if (violations.length === 0) return;
  a.warn(`would violate PodSecurity "${describeLevel(level)}": ${describeViolations(violations)}`);
}

/** Only what the checks look at and an update may change: images, ephemeral containers and annotations. */
function isSignificantUpdate(pod: Pod, old: Pod | undefined): boolean {
  if (!old) return true;
  const { spec, metadata } = pod;
  return (
    !deepEqual(metadata.annotations ?? {}, old.metadata.annotations ?? {}) ||
    !deepEqual(withoutScheduling(spec), withoutScheduling(old.spec))
  );
}

function withoutScheduling(spec: Pod['spec']): object {
  const {
    tolerations: _,
    activeDeadlineSeconds: __,
    schedulingGates: ___,
    ...rest
  } = spec ?? { containers: [] };
  return rest;
}
