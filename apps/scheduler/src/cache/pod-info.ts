import type { Container, Pod } from '@tinkernetes/api';
import type { AffinityTerms } from './affinity-terms';
import { kindOf, type PodKind } from './pod-kind';
import { requestsOf, type Resources } from './resources';

export interface HostPort {
  readonly ip: string;
  readonly protocol: string;
  readonly port: number;
}

/** A Pod with what scheduling needs of it, computed once. */
export interface PodInfo {
  readonly pod: Pod;
  readonly requests: Resources;
  readonly nonZeroRequests: Resources;
  readonly hostPorts: readonly HostPort[];
  readonly kind: PodKind;
  readonly affinity: AffinityTerms;
  readonly priority: number;
}

const known = new WeakMap<Pod, PodInfo>();

/** Objects are immutable, so what was computed for one stays true. */
export function podInfoOf(pod: Pod): PodInfo {
  const cached = known.get(pod);
  if (cached) return cached;
  const kind = kindOf(pod);
  const info: PodInfo = {
    pod,
    ...requestsOf(pod),
    hostPorts: hostPortsOf(pod),
    kind,
    affinity: kind.affinity,
    priority: pod.spec?.priority ?? 0,
  };
  known.set(pod, info);
  return info;
}

const noPorts: readonly HostPort[] = [];

function hostPortsOf(pod: Pod): readonly HostPort[] {
  const sidecars = (pod.spec?.initContainers ?? []).filter(
    (container) => container.restartPolicy === 'Always',
  );
  const containers: Container[] = [...sidecars, ...(pod.spec?.containers ?? [])];
  const hasAny = containers.some(({ ports }) => ports?.some(({ hostPort }) => hostPort));
  if (!hasAny) return noPorts;
  return containers.flatMap(({ ports = [] }) =>
    ports.flatMap(({ hostPort, hostIP, protocol }) =>
      hostPort ? [{ ip: hostIP || anyAddress, protocol: protocol ?? 'TCP', port: hostPort }] : [],
    ),
  );
}

const anyAddress = '0.0.0.0';

/** The same port on the same address, where 0.0.0.0 is every address. */
export const portsConflict = (a: HostPort, b: HostPort): boolean =>
  a.port === b.port &&
  a.protocol === b.protocol &&
  (a.ip === b.ip || a.ip === anyAddress || b.ip === anyAddress);

/** `namespace/name`. */
export const podKey = ({ metadata }: Pod): string => `${metadata.namespace ?? ''}/${metadata.name}`;
export const uidOf = ({ metadata }: Pod): string => metadata.uid ?? '';
