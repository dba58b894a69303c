import type { UserInfo } from '../../contracts';

const prefix = 'system:node:';

/** The node that a kubelet speaks for; undefined for all other users. Source: k8s.io/kubernetes/pkg/auth/nodeidentifier. */
export function nodeNameOf({ name, groups }: UserInfo): string | undefined {
  return name.startsWith(prefix) && groups.includes('system:nodes') ? name.slice(prefix.length) : undefined;
}
