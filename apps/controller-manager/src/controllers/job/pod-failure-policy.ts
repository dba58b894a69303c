import type { Job, Pod, PodFailurePolicyRule } from '@tinkernetes/api';
import { allContainers } from '@tinkernetes/apimachinery';

export interface PolicyOutcome {
  action: 'FailJob' | 'FailIndex' | 'Ignore' | 'Count';
  message?: string;
}

/** What the first matching rule says about a failed Pod. Source: k8s.io/kubernetes/pkg/controller/job/pod_failure_policy.go. */
export function matchFailurePolicy(job: Job, pod: Pod): PolicyOutcome {
  for (const [index, rule] of (job.spec.podFailurePolicy?.rules ?? []).entries()) {
    const reason = matchRule(rule, pod);
    if (!reason) continue;
    return { action: rule.action, message: `${reason} matching ${rule.action} rule at index ${index}` };
  }
  return { action: 'Count' };
}

function matchRule(rule: PodFailurePolicyRule, pod: Pod): string | undefined {
  const subject = `pod ${pod.metadata.namespace}/${pod.metadata.name}`;
  const { onExitCodes, onPodConditions } = rule;
  if (onExitCodes) {
    const known = new Set(allContainers(pod.spec).map((c) => c.name));
    const statuses = [...(pod.status?.containerStatuses ?? []), ...(pod.status?.initContainerStatuses ?? [])];
    const failed = statuses.find(({ name, state }) => {
      const code = state?.terminated?.exitCode;
      if (code === undefined || code === 0 || !known.has(name)) return false;
      if (onExitCodes.containerName !== undefined && onExitCodes.containerName !== name) return false;
      return onExitCodes.values.includes(code) === (onExitCodes.operator === 'In');
    });
    if (failed)
      return `Container ${failed.name} for ${subject} failed with exit code ${failed.state?.terminated?.exitCode}`;
  }
  for (const { type, status = 'True' } of onPodConditions ?? []) {
    if (pod.status?.conditions?.some((c) => c.type === type && c.status === status))
      return `${subject[0]?.toUpperCase()}${subject.slice(1)} has condition ${type}`;
  }
  return undefined;
}
