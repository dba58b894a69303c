import type { KubeObject, Pod, Service } from '@tinkernetes/api';
import { findCondition } from '@tinkernetes/apimachinery';

const annotation = 'endpoints.kubernetes.io/last-change-trigger-time';

interface Known {
  readonly service: string;
  readonly pods: ReadonlyMap<string, string>;
}

/**
 * What Services' endpoints were last written for, as an annotation tells: the earliest of the changes since the last
 * look, which are a Service's creation, and that a Pod became ready or no longer is. It says how long a change took to
 * reach the nodes. Source: k8s.io/endpointslice/util TriggerTimeTracker.
 */
export class TriggerTimes {
  private readonly known = new Map<string, Known>();

  /** undefined: none of that has changed. */
  next(key: string, service: Service, pods: readonly Pod[]): string | undefined {
    const before = this.known.get(key);
    const created = service.metadata.creationTimestamp ?? '';
    const times = new Map(
      pods.flatMap(({ metadata, status }) => {
        const time = findCondition(status?.conditions, 'Ready')?.lastTransitionTime;
        return time ? [[metadata.name, time] as const] : [];
      }),
    );
    this.known.set(key, { service: created, pods: times });
    if (!before) return created || undefined;
    const changed = [...times].flatMap(([name, time]) =>
      time > (before.pods.get(name) ?? '') ? [time] : [],
    );
    if (created > before.service) changed.push(created);
    return changed.sort()[0];
  }

  forget(key: string): void {
    this.known.delete(key);
  }
}

/** The annotations of what is written for a change at that time. */
export function withTriggerTime(
  { metadata }: Pick<KubeObject, 'metadata'>,
  time: string | undefined,
): Record<string, string> {
  const { [annotation]: _, ...others } = metadata.annotations ?? {};
  return time === undefined ? others : { ...others, [annotation]: time };
}
