import { ValidatingAdmissionPolicies, ValidatingAdmissionPolicyBindings } from '@tinkernetes/api';
import type {
  Validation,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from '@tinkernetes/api';
import { StatusError, type StatusReason } from '@tinkernetes/apimachinery';
import type { AdmissionAttributes, AdmissionPlugin, Authorizer, StoreRegistry } from '../../contracts';
import { notAdmitted } from '../answers';
import { PolicyEvaluation } from './evaluation';
import { BindingConfigurationError, paramsOf } from './params';
import { isExempt, matchesRequest } from './rule-matching';

interface Violation {
  readonly message: string;
  readonly reason: StatusReason;
}

const reasons: readonly string[] = [
  'Unauthorized',
  'Forbidden',
  'Invalid',
  'RequestEntityTooLarge',
] satisfies StatusReason[];

/** https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/ */
export function validatingAdmissionPolicy(stores: StoreRegistry, authorizer: Authorizer): AdmissionPlugin {
  const policies = stores.for(ValidatingAdmissionPolicies);
  const bindings = stores.for(ValidatingAdmissionPolicyBindings);
  return {
    name: 'ValidatingAdmissionPolicy',
    handles: (a) => !isExempt(a) && bindings.list().length > 0,
    validate: async (a) => {
      let denied: StatusError | undefined;
      for (const binding of bindings.list()) {
        const policy = policies.peek(binding.spec.policyName);
        if (!policy || !isAbout(stores, { policy, binding }, a)) continue;
        for (const violation of await violations(a, policy, binding)) {
          const answer = act(a, { policy, binding, violation });
          denied ??= answer;
        }
      }
      if (denied) throw denied;
    },
  };

  async function violations(
    a: AdmissionAttributes,
    policy: ValidatingAdmissionPolicy,
    binding: ValidatingAdmissionPolicyBinding,
  ): Promise<Violation[]> {
    const { spec } = policy;
    try {
      const out: Violation[] = [];
      for (const params of await paramsOf(stores, { kind: spec.paramKind, ref: binding.spec.paramRef }, a)) {
        const evaluation = await PolicyEvaluation.create({ stores, authorizer }, a, {
          variables: spec.variables,
          params,
        });
        if (!(await evaluation.meets(spec.matchConditions ?? []))) continue;
        for (const validation of spec.validations ?? []) {
          const violation = await violationOf(evaluation, validation, spec.failurePolicy);
          if (violation) out.push(violation);
        }
      }
      return out;
    } catch (error) {
      if (spec.failurePolicy === 'Ignore' || !(error instanceof Error)) return [];
      const message =
        error instanceof BindingConfigurationError
          ? `failed to configure binding: ${error.message}`
          : error.message;
      return [{ message, reason: 'Invalid' }];
    }
  }
}

function isAbout(
  stores: StoreRegistry,
  { policy, binding }: { policy: ValidatingAdmissionPolicy; binding: ValidatingAdmissionPolicyBinding },
  a: AdmissionAttributes,
): boolean {
  const constraints = policy.spec.matchConstraints;
  const narrower = binding.spec.matchResources;
  const everything = [
    { operations: ['*' as const], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'] },
  ];
  return (
    matchesRequest(
      stores,
      {
        ...constraints,
        rules: constraints?.resourceRules ?? [],
        excludeRules: constraints?.excludeResourceRules,
      },
      a,
    ) &&
    (!narrower ||
      matchesRequest(
        stores,
        {
          ...narrower,
          rules: narrower.resourceRules?.length ? narrower.resourceRules : everything,
          excludeRules: narrower.excludeResourceRules,
        },
        a,
      ))
  );
}

async function violationOf(
  evaluation: PolicyEvaluation,
  validation: Validation,
  failurePolicy: string | undefined,
): Promise<Violation | undefined> {
  const reason = (reasons.includes(validation.reason ?? '') ? validation.reason : 'Invalid') as StatusReason;
  try {
    if ((await evaluation.evaluate(validation.expression)) === true) return undefined;
  } catch (error) {
    if (failurePolicy === 'Ignore' || !(error instanceof Error)) return undefined;
    return { message: `expression '${validation.expression}' resulted in error: ${error.message}`, reason };
  }
  return { message: await messageOf(evaluation, validation), reason };
}

async function messageOf(evaluation: PolicyEvaluation, validation: Validation): Promise<string> {
  const fallback = validation.message?.trim() || `failed expression: ${validation.expression.trim()}`;
  if (!validation.messageExpression) return fallback;
  try {
    const text = await evaluation.evaluate(validation.messageExpression);
    return typeof text === 'string' && text.trim() !== '' && !text.includes('\n') ? text.trim() : fallback;
  } catch (error) {
    if (error instanceof Error) return fallback;
    throw error;
  }
}

/** Warns, or gives the answer that denies; the Audit action has no audit log to write to. */
function act(
  a: AdmissionAttributes,
  {
    policy,
    binding,
    violation,
  }: { policy: ValidatingAdmissionPolicy; binding: ValidatingAdmissionPolicyBinding; violation: Violation },
): StatusError | undefined {
  const who = `ValidatingAdmissionPolicy '${policy.metadata.name}' with binding '${binding.metadata.name}'`;
  const { validationActions } = binding.spec;
  if (validationActions.includes('Warn')) a.warn(`Validation failed for ${who}: ${violation.message}`);
  if (!validationActions.includes('Deny')) return undefined;
  const message = `${who} denied request: ${violation.message}`;
  const forbidden = notAdmitted(a, message);
  return new StatusError(violation.reason, forbidden.message, {
    details: { ...forbidden.details, causes: [{ message }] },
  });
}
