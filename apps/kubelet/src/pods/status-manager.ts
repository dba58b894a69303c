import { Pods, type Pod, type PodCondition, type PodStatus } from '@tinkernetes/api';
import { isNotFound, isConflict } from '@tinkernetes/apimachinery';
import type { Client } from '@tinkernetes/client';
import type { Clock, Logger, StepTracer, Timer, TraceParent } from '@tinkernetes/component-base';
import { isPhaseTerminal, podText, uidOf } from './pod-facts';

export interface StatusManagerDeps {
  client: Client;
  clock: Clock;
  logger: Logger;
  tracer: StepTracer;
  nodeName: string;
  traceOf(pod: Pod): TraceParent | undefined;
  /** The API object that shows the Pod: itself, or a static Pod's mirror, if it has one already. */
  apiPodOf(pod: Pod): Pod | undefined;
  /** Everything of the Pod is gone from the node: the API object may go too. */
  canBeDeleted(uid: string): boolean;
  signal: AbortSignal;
}

interface Entry {
  pod: Pod;
  status: PodStatus;
  /** What was last sent, to send nothing twice; mostly the same object as `status`. */
  sent: PodStatus | undefined;
  /** The UID of the API object: a static Pod's mirror may be a new one, which knows nothing. */
  sentTo?: string;
  /** Of the Pod as the API server answered to that. */
  sentVersion?: string;
  running: boolean;
  dirty: boolean;
  timer?: Timer;
}

const retryMs = 1000;

/** Reports Pod statuses to the API server: the newest only, never the same twice, one request a Pod at a time. */
export class StatusManager {
  private readonly entries = new Map<string, Entry>();

  constructor(private readonly deps: StatusManagerDeps) {}

  /** Last status set; what readers of the node's own view get. */
  get(uid: string): PodStatus | undefined {
    return this.entries.get(uid)?.status;
  }

  set(pod: Pod, status: PodStatus): void {
    const uid = uidOf(pod);
    const entry = this.entries.get(uid);
    if (entry) {
      entry.pod = pod;
      // Of two equal ones the older is kept: there are thousands, and it is the one that was sent.
      if (JSON.stringify(status) !== JSON.stringify(entry.status)) entry.status = status;
      this.push(entry);
    } else {
      const created: Entry = { pod, status, sent: undefined, running: false, dirty: false };
      this.entries.set(uid, created);
      this.push(created);
    }
  }

  /**
   * The Pod as the API server shows it now. Where somebody else took a condition for another than the node says it is
   * (the node lifecycle controller, while the node could not be heard), it is said once more.
   */
  observed(pod: Pod): void {
    const entry = this.entries.get(uidOf(pod));
    if (!entry?.sent || !entry.sentVersion || entry.running) return;
    if (!isNewer(pod.metadata.resourceVersion, entry.sentVersion)) return;
    const shown = new Map(pod.status?.conditions?.map((c) => [c.type, c.status]));
    if (entry.status.conditions?.every((c) => shown.get(c.type) === c.status)) return;
    entry.pod = pod;
    entry.sent = pod.status;
    this.push(entry);
  }

  /** To be called when something other than the status decides whether the Pod may be deleted. */
  touch(pod: Pod): void {
    const entry = this.entries.get(uidOf(pod));
    if (!entry) return;
    entry.pod = pod;
    this.push(entry);
  }

  forget(uid: string): void {
    this.entries.get(uid)?.timer?.cancel();
    this.entries.delete(uid);
  }

  stop(): void {
    for (const entry of this.entries.values()) entry.timer?.cancel();
  }

  private isOver(pod: Pod): boolean {
    return this.deps.canBeDeleted(uidOf(pod));
  }

  private push(entry: Entry): void {
    entry.dirty = true;
    if (entry.running) return;
    entry.running = true;
    entry.timer?.cancel();
    void this.drain(entry);
  }

  private async drain(entry: Entry): Promise<void> {
    try {
      while (entry.dirty && !this.deps.signal.aborted) {
        entry.dirty = false;
        await this.sync(entry);
      }
    } catch (error) {
      if (this.deps.signal.aborted) return;
      this.deps.logger.warn(
        { pod: podText(entry.pod), err: error },
        'could not report the status, trying again',
      );
      entry.timer = this.deps.clock.setTimeout(() => this.push(entry), retryMs, { unref: true });
    } finally {
      entry.running = false;
    }
  }

  private async sync(entry: Entry): Promise<void> {
    const pod = this.deps.apiPodOf(entry.pod);
    if (!pod) return;
    if (entry.sentTo !== pod.metadata.uid) entry.sent = undefined;
    entry.sentTo = pod.metadata.uid;
    const status = this.isOver(pod) ? entry.status : stillRunning(entry.status, entry.sent ?? pod.status);
    const { client, tracer, nodeName, signal } = this.deps;
    const { name, namespace, uid } = pod.metadata;
    const pods = client.for(Pods);
    if (status !== entry.sent && JSON.stringify(status) !== JSON.stringify(entry.sent)) {
      const trace = this.deps.traceOf(pod);
      const patch = statusPatch(pod, status, entry.sent ?? pod.status);
      try {
        const step = { parent: trace, node: nodeName, object: { kind: 'Pod', namespace, name, uid } };
        const written = await tracer.step(
          'kubelet.status.update',
          { ...step, attributes: { phase: status.phase ?? '' } },
          (span) =>
            pods.patch(name, patch, {
              type: 'strategic',
              subresource: 'status',
              namespace,
              trace: span.traceParent,
              signal,
            }),
        );
        entry.sentVersion = written.metadata.resourceVersion;
      } catch (error) {
        // Gone, or replaced by another Pod of that name: nobody waits for this status.
        if (!isNotFound(error) && !isConflict(error)) throw error;
      }
      entry.sent = status;
    }
    if (pod.metadata.deletionTimestamp && this.isOver(pod)) {
      try {
        await pods.delete(name, {
          namespace,
          gracePeriodSeconds: 0,
          preconditions: { uid: uidOf(pod) },
          signal,
        });
      } catch (error) {
        if (!isNotFound(error) && !isConflict(error)) throw error;
      }
    }
  }
}

/**
 * A Pod that the kubelet ends is reported as ended once its containers are: until then they use what it was given.
 * Source: pkg/kubelet/status mergePodStatus.
 */
function stillRunning(next: PodStatus, before: PodStatus | undefined): PodStatus {
  if (!isPhaseTerminal(next.phase) || isPhaseTerminal(before?.phase)) return next;
  const containers = [next.initContainerStatuses, next.containerStatuses, next.ephemeralContainerStatuses];
  if (!containers.some((statuses) => statuses?.some(({ state }) => state?.running))) return next;
  const { phase, reason, message } = before ?? {};
  const conditions = next.conditions?.filter(({ type }) => type !== 'DisruptionTarget');
  return { ...next, phase: phase ?? 'Pending', reason, message, conditions };
}

/** Versions count up; one that is no number says nothing. */
const isNewer = (version: string | undefined, than: string): boolean => Number(version) > Number(than);

/**
 * A strategic merge patch from what the API server has (as far as known) to `next`. Conditions merge by type, so that
 * those of others stay; lists of addresses are replaced as a whole. The uid guards against a Pod of the same name.
 */
function statusPatch(pod: Pod, next: PodStatus, known: PodStatus | undefined): object {
  const status: Record<string, unknown> = {};
  const before = (known ?? {}) as Record<string, unknown>;
  const after = next as Record<string, unknown>;
  for (const key of new Set([...Object.keys(after), ...ownedOptionalFields])) {
    if (JSON.stringify(after[key]) === JSON.stringify(before[key])) continue;
    if (after[key] === undefined) status[key] = null;
    else if (key === 'conditions')
      status[key] = changedConditions(next.conditions ?? [], known?.conditions ?? []);
    else if (key === 'podIPs' || key === 'hostIPs')
      status[key] = [...(after[key] as object[]), { $patch: 'replace' }];
    else status[key] = after[key];
  }
  return { metadata: { uid: pod.metadata.uid }, status };
}

/** Fields that a later status may leave out again. */
const ownedOptionalFields = ['reason', 'message'];

/** Conditions of the kubelet's that a later status may leave out. */
const passingConditions = ['PodResizePending', 'PodResizeInProgress'];

function changedConditions(next: readonly PodCondition[], known: readonly PodCondition[]): object[] {
  const changed = next
    .filter((c) => JSON.stringify(c) !== JSON.stringify(known.find((k) => k.type === c.type)))
    .map((c) => ({ ...c, reason: c.reason ?? null, message: c.message ?? null }));
  const over = known
    .filter(({ type }) => passingConditions.includes(type) && !next.some((c) => c.type === type))
    .map(({ type }) => ({ type, $patch: 'delete' }));
  return [...changed, ...over];
}
