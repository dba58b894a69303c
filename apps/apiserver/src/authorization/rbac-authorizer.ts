import type { AuthorizationAttributes, AuthorizationResult, Authorizer } from '../contracts';
import { ruleAllows } from './policy-rule';
import type { RuleResolver } from './rule-resolver';
import type { BindingMatch } from './subject-index';

/** Allows what a Role or ClusterRole bound to the user allows. https://kubernetes.io/docs/reference/access-authn-authz/rbac/ */
export class RbacAuthorizer implements Authorizer {
  readonly name = 'RBAC';

  constructor(private readonly resolver: RuleResolver) {}

  authorize(attributes: AuthorizationAttributes): AuthorizationResult {
    const errors = new Set<string>();
    const namespace = attributes.isResourceRequest ? attributes.namespace : '';
    for (const resolved of this.resolver.resolve(attributes.user, namespace)) {
      if (resolved.error !== undefined) errors.add(resolved.error);
      else if (resolved.rules.some((rule) => ruleAllows(rule, attributes))) {
        return { decision: 'allow', reason: `RBAC: allowed by ${describe(resolved.match)}` };
      }
    }
    return { decision: 'no-opinion', reason: errors.size === 0 ? '' : `RBAC: ${aggregate([...errors])}` };
  }
}

/** Several errors as Go's error aggregate prints them. */
const aggregate = (errors: readonly string[]): string =>
  errors.length === 1 ? (errors[0] ?? '') : `[${errors.join(', ')}]`;

function describe({ binding, subject }: BindingMatch): string {
  const { name = '', namespace } = binding.metadata;
  const what =
    namespace === undefined ? `ClusterRoleBinding "${name}"` : `RoleBinding "${name}/${namespace}"`;
  const who =
    subject.kind === 'ServiceAccount'
      ? `"${subject.name}/${subject.namespace || (namespace ?? '')}"`
      : `"${subject.name}"`;
  return `${what} of ${binding.roleRef.kind} "${binding.roleRef.name}" to ${subject.kind} ${who}`;
}
