import type { ClusterRoleBinding, RoleBinding, Subject } from '@tinkernetes/api';
import type { UserInfo } from '../contracts';

export type Binding = ClusterRoleBinding | RoleBinding;

/** A binding by which a user is meant, and the subject that meant him. */
export interface BindingMatch {
  readonly binding: Binding;
  readonly subject: Subject;
}

/** Bindings of one scope by the users and groups that they name, so that a request looks only at its own. */
export class SubjectIndex {
  private readonly bySubject = new Map<string, Map<string, BindingMatch>>();

  add(binding: Binding): void {
    for (const subject of binding.subjects ?? []) {
      const key = subjectKey(subject, binding.metadata.namespace);
      if (key === undefined) continue;
      let matches = this.bySubject.get(key);
      if (!matches) this.bySubject.set(key, (matches = new Map()));
      const name = binding.metadata.name ?? '';
      if (!matches.has(name)) matches.set(name, { binding, subject });
    }
  }

  remove(binding: Binding): void {
    for (const subject of binding.subjects ?? []) {
      const key = subjectKey(subject, binding.metadata.namespace);
      const matches = key === undefined ? undefined : this.bySubject.get(key);
      if (!key || !matches) continue;
      matches.delete(binding.metadata.name ?? '');
      if (matches.size === 0) this.bySubject.delete(key);
    }
  }

  /** Bindings of the user himself, then of his groups. */
  *matching(user: UserInfo): Iterable<BindingMatch> {
    yield* this.bySubject.get(`User ${user.name}`)?.values() ?? [];
    for (const group of user.groups) yield* this.bySubject.get(`Group ${group}`)?.values() ?? [];
  }
}

/** A service account is known by its user name. */
function subjectKey(subject: Subject, bindingNamespace: string | undefined): string | undefined {
  switch (subject.kind) {
    case 'User':
    case 'Group':
      return `${subject.kind} ${subject.name}`;
    case 'ServiceAccount': {
      const namespace = subject.namespace || bindingNamespace;
      return namespace ? `User system:serviceaccount:${namespace}:${subject.name}` : undefined;
    }
    default:
      return undefined;
  }
}
