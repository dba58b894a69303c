import type { Container, ContainerStatus, Pod } from '@tinkernetes/api';
import { isRestartableInitContainer } from '@tinkernetes/apimachinery';
import { age, orNone } from './cells';
import { since } from './duration';

/** Name, Ready, Status, Restarts, Age, IP, Node, Nominated Node, Readiness Gates. Source: printers/internalversion printPod. */
export function podCells(pod: Pod, now: number): unknown[] {
  const summary = summarize(pod);
  const { status, spec, metadata } = pod;
  const ip = status?.podIPs?.[0]?.ip ?? status?.podIP;
  return [
    metadata.name,
    `${summary.ready}/${summary.total}`,
    summary.reason,
    restartsText(summary, now),
    age(pod, now),
    orNone(ip),
    orNone(spec?.nodeName),
    orNone(status?.nominatedNodeName),
    readinessGates(pod),
  ];
}

/** Marks the rows of Pods that have ended. */
export function podRowConditions({ status }: Pod): readonly object[] {
  const completed = { type: 'Completed', status: 'True' };
  switch (status?.phase) {
    case 'Succeeded':
      return [{ ...completed, reason: 'Succeeded', message: 'The pod has completed successfully.' }];
    case 'Failed':
      return [{ ...completed, reason: 'Failed', message: 'The pod failed.' }];
    default:
      return [];
  }
}

interface Summary {
  reason: string;
  ready: number;
  total: number;
  restarts: number;
  lastRestart: string | undefined;
}

interface RestartCount {
  restarts: number;
  lastRestart: string | undefined;
}

function restartsText({ restarts, lastRestart }: RestartCount, now: number): string {
  return lastRestart && restarts > 0 ? `${restarts} (${since(lastRestart, now)} ago)` : String(restarts);
}

const later = (a: string | undefined, b: string | undefined): string | undefined =>
  a === undefined || (b !== undefined && b > a) ? b : a;

function countRestarts(statuses: readonly ContainerStatus[]): RestartCount {
  return statuses.reduce<RestartCount>(
    (sum, status) => ({
      restarts: sum.restarts + status.restartCount,
      lastRestart: later(sum.lastRestart, status.lastState?.terminated?.finishedAt),
    }),
    { restarts: 0, lastRestart: undefined },
  );
}

function terminatedReason(state: NonNullable<NonNullable<ContainerStatus['state']>['terminated']>): string {
  if (state.reason) return state.reason;
  return state.signal ? `Signal:${state.signal}` : `ExitCode:${state.exitCode}`;
}

function summarize(pod: Pod): Summary {
  const initContainers = pod.spec?.initContainers ?? [];
  const sidecars = new Set(
    initContainers.filter(isRestartableInitContainer).map((container) => container.name),
  );
  const containers: Container[] = pod.spec?.containers ?? [];
  const total = containers.length + sidecars.size;
  const init = summarizeInit(pod, initContainers, sidecars);
  const base = { total, ready: init.readySidecars };
  let reason = pod.status?.reason || pod.status?.phase || '';
  if (reason !== 'SchedulingGated' && isGated(pod)) reason = 'SchedulingGated';
  if (init.reason !== undefined) return finish(pod, { ...base, ...init.count, reason: init.reason });
  const statuses = pod.status?.containerStatuses ?? [];
  const main = summarizeMain(statuses, reason);
  const count = countRestarts([...statuses, ...init.sidecarStatuses]);
  const hasReadyCondition = pod.status?.conditions?.some((c) => c.type === 'Ready' && c.status === 'True');
  if (main.reason === 'Completed' && main.hasRunning)
    main.reason = hasReadyCondition ? 'Running' : 'NotReady';
  return finish(pod, { total, ready: init.readySidecars + main.ready, reason: main.reason, ...count });
}

const isGated = (pod: Pod): boolean =>
  pod.status?.conditions?.some((c) => c.type === 'PodScheduled' && c.reason === 'SchedulingGated') ?? false;

/** What holds whatever the containers do: deletion. */
function finish(pod: Pod, summary: Summary): Summary {
  if (!pod.metadata.deletionTimestamp) return summary;
  if (pod.status?.reason === 'NodeLost') return { ...summary, reason: 'Unknown' };
  const isTerminal = pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';
  return isTerminal ? summary : { ...summary, reason: 'Terminating' };
}

interface InitSummary {
  /** Set while initialisation is not over. */
  reason: string | undefined;
  count: RestartCount;
  readySidecars: number;
  sidecarStatuses: ContainerStatus[];
}

function summarizeInit(
  pod: Pod,
  initContainers: readonly Container[],
  sidecars: ReadonlySet<string>,
): InitSummary {
  const statuses = pod.status?.initContainerStatuses ?? [];
  const seen: ContainerStatus[] = [];
  const sidecarStatuses = statuses.filter((status) => sidecars.has(status.name));
  let readySidecars = 0;
  for (const [i, status] of statuses.entries()) {
    seen.push(status);
    const { terminated, waiting } = status.state ?? {};
    if (terminated?.exitCode === 0) continue;
    if (sidecars.has(status.name) && status.started) {
      if (status.ready) readySidecars += 1;
      continue;
    }
    let reason = `Init:${i}/${initContainers.length}`;
    if (terminated) reason = `Init:${terminatedReason(terminated)}`;
    else if (waiting?.reason && waiting.reason !== 'PodInitializing') reason = `Init:${waiting.reason}`;
    const isInitialized = pod.status?.conditions?.some(
      (c) => c.type === 'Initialized' && c.status === 'True',
    );
    return {
      reason: isInitialized ? undefined : reason,
      count: countRestarts(seen),
      readySidecars,
      sidecarStatuses,
    };
  }
  return { reason: undefined, count: countRestarts(seen), readySidecars, sidecarStatuses };
}

function summarizeMain(
  statuses: readonly ContainerStatus[],
  initial: string,
): { reason: string; ready: number; hasRunning: boolean } {
  let reason = initial;
  let ready = 0;
  let hasRunning = false;
  for (const status of [...statuses].reverse()) {
    const { waiting, terminated, running } = status.state ?? {};
    if (waiting?.reason) reason = waiting.reason;
    else if (terminated) reason = terminatedReason(terminated);
    else if (status.ready && running) {
      hasRunning = true;
      ready += 1;
    }
  }
  return { reason, ready, hasRunning };
}

function readinessGates(pod: Pod): string {
  const gates = pod.spec?.readinessGates ?? [];
  if (gates.length === 0) return '<none>';
  const passed = gates.filter((gate) =>
    pod.status?.conditions?.some((c) => c.type === gate.conditionType && c.status === 'True'),
  );
  return `${passed.length}/${gates.length}`;
}
