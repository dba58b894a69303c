import type { ClusterRole, KubeObject, PolicyRule, RoleBinding, Subject } from '@tinkernetes/api';
import { deepEqual, forbiddenError, notFound } from '@tinkernetes/apimachinery';
import type { AdmissionAttributes, AdmissionPlugin, Authorizer } from '../../contracts';
import type { RuleResolver } from '../rule-resolver';
import { describeRules, goStrings, uncovered } from './rule-coverage';

const group = 'rbac.authorization.k8s.io';
const everything: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
];

/**
 * Nobody grants what he doesn't hold himself, unless he may `escalate` the role or `bind` it. In upstream a part of the
 * RBAC registry, here a plugin that can't be switched off.
 * Source: https://kubernetes.io/docs/reference/access-authn-authz/rbac/#privilege-escalation-prevention-and-bootstrapping
 */
export function escalationGuard(resolver: RuleResolver, authorizer: Authorizer): AdmissionPlugin {
  return {
    name: 'RBACEscalation',
    handles: (a) =>
      a.group === group &&
      a.subresource === '' &&
      (a.operation === 'CREATE' || a.operation === 'UPDATE') &&
      !a.user.groups.includes('system:masters'),
    mutate: async (a) => {
      if (a.resource === 'roles' || a.resource === 'clusterroles') await checkRole(a);
      else await checkBinding(a);
      return a.object;
    },
  };

  async function checkRole(a: AdmissionAttributes): Promise<void> {
    const role = a.object as ClusterRole;
    const old = a.oldObject as ClusterRole | undefined;
    const changed = !old || !deepEqual(old.rules ?? [], role.rules ?? []);
    const aggregates = role.aggregationRule && !deepEqual(old?.aggregationRule, role.aggregationRule);
    if (!changed && !aggregates) return;
    if (await mayDo(a, { verb: 'escalate', resource: a.resource, name: a.name })) return;
    refuseMore(a, [...(changed ? (role.rules ?? []) : []), ...(aggregates ? everything : [])]);
  }

  async function checkBinding(a: AdmissionAttributes): Promise<void> {
    const binding = a.object as RoleBinding;
    const old = a.oldObject as RoleBinding | undefined;
    if (old && sameGrant(binding, old)) return;
    const { kind, name } = binding.roleRef;
    const resource = kind === 'ClusterRole' ? 'clusterroles' : 'roles';
    if (await mayDo(a, { verb: 'bind', resource, name })) return;
    const rules = resolver.rulesOf(binding.roleRef, a.namespace);
    if (!rules) throw notFound({ group, resource }, name);
    refuseMore(a, rules);
  }

  function refuseMore(a: AdmissionAttributes, rules: readonly PolicyRule[]): void {
    const owned: PolicyRule[] = [];
    const errors: string[] = [];
    for (const resolved of resolver.resolve(a.user, a.namespace)) {
      if (resolved.error === undefined) owned.push(...resolved.rules);
      else errors.push(resolved.error);
    }
    const missing = uncovered(owned, rules);
    if (missing.length === 0) return;
    const resolution = errors.length > 0 ? `; resolution errors: [${errors.join(' ')}]` : '';
    throw forbiddenError(
      a,
      a.name,
      `user ${JSON.stringify(a.user.name)} (groups=${goStrings(a.user.groups)}) is attempting to grant RBAC permissions not currently held:\n${describeRules(missing).join('\n')}${resolution}`,
    );
  }

  async function mayDo(
    a: AdmissionAttributes,
    { verb, resource, name }: { verb: string; resource: string; name: string },
  ): Promise<boolean> {
    const { decision } = await authorizer.authorize({
      user: a.user,
      verb,
      isResourceRequest: true,
      apiGroup: group,
      apiVersion: '*',
      resource,
      subresource: '',
      namespace: a.namespace,
      name,
      path: '',
    });
    return decision === 'allow';
  }
}

const sameGrant = (binding: RoleBinding, old: RoleBinding): boolean =>
  deepEqual(binding.roleRef, old.roleRef) && deepEqual(subjects(binding), subjects(old));

const subjects = (binding: KubeObject & { subjects?: Subject[] }): readonly Subject[] =>
  binding.subjects ?? [];
