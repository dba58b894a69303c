import { ValidatingAdmissionPolicies, apiVersionOf, type ValidatingAdmissionPolicy } from '@tinkernetes/api';
import { ignoreNotFound } from '@tinkernetes/apimachinery';
import type { Reconciler } from '@tinkernetes/controller';
import type { ControllerContext, RunnableController } from '../../manager/context';
import { queueController } from '../../manager/queue-controller';

const name = 'validatingadmissionpolicy-status';

/**
 * Says in a ValidatingAdmissionPolicy's status what its expressions get wrong about the kinds that it matches. Watches
 * and writes ValidatingAdmissionPolicies. Source: k8s.io/kubernetes/pkg/controller/validatingadmissionpolicystatus.
 */
export function startValidatingAdmissionPolicyStatusController(
  context: ControllerContext,
): RunnableController {
  const { client, informers } = context;
  const queue = context.queues.create(name);
  const policies = informers.for(ValidatingAdmissionPolicies);
  const enqueue = (policy: ValidatingAdmissionPolicy) => queue.add(policy.metadata.name);
  policies.addEventHandler({ added: enqueue, updated: (_, policy) => enqueue(policy) });
  const reconciler: Reconciler = {
    name,
    async reconcile(policyName, { signal }) {
      const policy = policies.lister.get(policyName);
      if (!policy) return;
      const { generation = 0 } = policy.metadata;
      if (generation <= (policy.status?.observedGeneration ?? 0)) return;
      // Most clusters never have a policy.
      const { expressionWarnings } = await import('./type-checking');
      const warnings = await expressionWarnings(client, policy, signal);
      const applied = {
        apiVersion: apiVersionOf(ValidatingAdmissionPolicies),
        kind: ValidatingAdmissionPolicies.kind,
        metadata: { name: policyName },
        status: {
          observedGeneration: generation,
          typeChecking: warnings.length > 0 ? { expressionWarnings: warnings } : {},
        },
      };
      await client
        .for(ValidatingAdmissionPolicies)
        .patch(policyName, applied, {
          ...{ type: 'apply', subresource: 'status', fieldManager: name, force: true },
          signal,
        })
        .catch(ignoreNotFound);
    },
  };
  return queueController({ context, queue, reconciler, concurrency: 5 });
}
