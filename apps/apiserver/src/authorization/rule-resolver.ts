import { ClusterRoleBindings, ClusterRoles, RoleBindings, Roles } from '@tinkernetes/api';
import type { ClusterRole, KubeObject, PolicyRule, Role, RoleRef } from '@tinkernetes/api';
import type { ResourceStore, StoreRegistry, UserInfo } from '../contracts';
import { type Binding, type BindingMatch, SubjectIndex } from './subject-index';

/** One rule that a user has, or the reason why a binding of his gives none. */
export type ResolvedRules =
  | { readonly match: BindingMatch; readonly rules: readonly PolicyRule[]; readonly error?: undefined }
  | { readonly match: BindingMatch; readonly rules?: undefined; readonly error: string };

/**
 * The rules that RBAC's objects give a user, resolved from the watch caches.
 * Source: k8s.io/kubernetes/pkg/registry/rbac/validation.DefaultRuleResolver.
 */
export class RuleResolver {
  private readonly cluster = new SubjectIndex();
  private readonly namespaces = new Map<string, SubjectIndex>();
  private readonly roles: ResourceStore<Role>;
  private readonly clusterRoles: ResourceStore<ClusterRole>;

  private started = false;

  constructor(private readonly stores: StoreRegistry) {
    this.roles = stores.for(Roles);
    this.clusterRoles = stores.for(ClusterRoles);
  }

  /** Cluster-wide bindings first, then those of the namespace ('' for none). */
  *resolve(user: UserInfo, namespace: string): Iterable<ResolvedRules> {
    if (!this.started) this.start();
    for (const match of this.cluster.matching(user)) yield this.rulesOfMatch(match);
    if (namespace === '') return;
    for (const match of this.namespaces.get(namespace)?.matching(user) ?? []) yield this.rulesOfMatch(match);
  }

  /** The rules of the role that a binding in `namespace` names; undefined when there is none. */
  rulesOf(ref: RoleRef, namespace: string): readonly PolicyRule[] | undefined {
    const role =
      ref.kind === 'ClusterRole' ? this.clusterRoles.peek(ref.name) : this.roles.peek(ref.name, namespace);
    return role && (role.rules ?? []);
  }

  private rulesOfMatch(match: BindingMatch): ResolvedRules {
    const { roleRef, metadata } = match.binding;
    const rules = this.rulesOf(roleRef, metadata.namespace ?? '');
    if (rules) return { match, rules };
    const resource = roleRef.kind === 'ClusterRole' ? 'clusterrole' : 'role';
    return { match, error: `${resource}.rbac.authorization.k8s.io "${roleRef.name}" not found` };
  }

  /** With the first request: the caches are full by then. */
  private start(): void {
    this.started = true;
    this.follow(this.stores.for(ClusterRoleBindings), () => this.cluster);
    this.follow(this.stores.for(RoleBindings), ({ metadata }) =>
      this.namespaceIndex(metadata.namespace ?? ''),
    );
  }

  private namespaceIndex(namespace: string): SubjectIndex {
    let index = this.namespaces.get(namespace);
    if (!index) this.namespaces.set(namespace, (index = new SubjectIndex()));
    return index;
  }

  private follow<T extends Binding & KubeObject>(
    store: ResourceStore<T>,
    indexOf: (binding: T) => SubjectIndex,
  ): void {
    store.onChange(({ type, object, old }) => {
      const index = indexOf(object);
      if (old) index.remove(old);
      if (type === 'DELETED') index.remove(object);
      else index.add(object);
    });
    for (const binding of store.list()) indexOf(binding).add(binding);
  }
}
