import type { Container, Pod, Probe } from '@tinkernetes/api';
import type { Clock } from '@tinkernetes/component-base';
import { allContainers, isSidecar, uidOf } from '../pods/pod-facts';
import type { ProbeResults } from '../runtime/container-kill';
import type { PodEvents } from '../runtime/pod-events';
import { findContainer, type PodRuntimeStatus, type RuntimeContainer } from '../runtime/pod-runtime-status';
import { ProbeWorker } from './probe-worker';
import { runProbe, type ProbeKind, type ProbeOutcome, type ProberDeps } from './prober';

export interface ProbeManagerDeps extends ProberDeps {
  clock: Clock;
  events: PodEvents;
  /** A result that counts has changed. */
  onChange(podUID: string): void;
}

interface Probed {
  podUID: string;
  workers: Map<ProbeKind, ProbeWorker>;
  results: Map<ProbeKind, 'success' | 'failure'>;
  labels: Readonly<Record<string, string>>;
  /** By `<kind> <result>`. */
  counts: Map<string, number>;
}

const titles: Record<ProbeKind, string> = {
  liveness: 'Liveness',
  readiness: 'Readiness',
  startup: 'Startup',
};

const troubles: Record<ProbeOutcome['result'], string> = {
  success: 'probe warning',
  failure: 'probe failed',
  unknown: 'probe errored and resulted in unknown state',
};

type Result = ProbeOutcome['result'];
const resultLabels: Record<Result, string> = {
  success: 'successful',
  failure: 'failed',
  unknown: 'unknown',
};

/** Probe workers of the containers that run, by container ID. Source: pkg/kubelet/prober/prober_manager.go. */
export class ProbeManager implements ProbeResults {
  private readonly containers = new Map<string, Probed>();

  constructor(private readonly deps: ProbeManagerDeps) {}

  /** Probes what runs of the Pod and has probes; ends the workers of what has stopped. */
  update(pod: Pod, runtime: PodRuntimeStatus): void {
    const uid = uidOf(pod);
    const alive = new Set<string>();
    const deleting = pod.metadata.deletionTimestamp !== undefined;
    for (const { kind, container } of allContainers(pod)) {
      if (kind === 'ephemeral' || (kind === 'init' && !isSidecar(container))) continue;
      const current = findContainer(runtime, container.name);
      if (current?.state !== 'running') continue;
      alive.add(current.id);
      this.probe(pod, container, current, { podIP: runtime.ips[0] ?? '', deleting });
    }
    for (const [id, probed] of this.containers) {
      if (probed.podUID === uid && !alive.has(id)) this.drop(id);
    }
  }

  forget(podUID: string): void {
    for (const [id, probed] of this.containers) if (probed.podUID === podUID) this.drop(id);
  }

  stop(): void {
    for (const id of [...this.containers.keys()]) this.drop(id);
  }

  /** How often probes of what runs ended how. Source: pkg/kubelet/prober ProberResults. */
  *counts(): Generator<readonly [labels: Record<string, string>, count: number]> {
    for (const { labels, counts } of this.containers.values())
      for (const [key, count] of counts) {
        const [kind = '', result = ''] = key.split(' ');
        yield [
          { ...labels, probe_type: titles[kind as ProbeKind], result: resultLabels[result as Result] },
          count,
        ];
      }
  }

  liveness(id: string): 'success' | 'failure' | undefined {
    return this.containers.get(id)?.results.get('liveness');
  }

  startup(id: string): 'success' | 'failure' | undefined {
    return this.containers.get(id)?.results.get('startup');
  }

  isStarted(container: Container, id: string): boolean {
    return !container.startupProbe || this.startup(id) === 'success';
  }

  isReady(container: Container, id: string): boolean {
    return !container.readinessProbe || this.containers.get(id)?.results.get('readiness') === 'success';
  }

  private drop(id: string): void {
    for (const worker of this.containers.get(id)?.workers.values() ?? []) worker.stop();
    this.containers.delete(id);
  }

  private probe(
    pod: Pod,
    container: Container,
    current: RuntimeContainer,
    { podIP, deleting }: { podIP: string; deleting: boolean },
  ): void {
    const { startupProbe, livenessProbe, readinessProbe } = container;
    if (!startupProbe && !livenessProbe && !readinessProbe) return;
    const probed = this.probedOf(pod, container, current.id);
    const ensure = (kind: ProbeKind, probe: Probe | undefined) => {
      if (!probe || probed.workers.has(kind)) return;
      probed.workers.set(kind, this.worker({ pod, container, current, podIP, kind, probe, probed }));
    };
    // What restarts a container has nothing to say of a Pod that is going away.
    if (deleting) for (const kind of ['startup', 'liveness'] as const) probed.workers.get(kind)?.stop();
    else ensure('startup', startupProbe);
    if (!this.isStarted(container, current.id)) return;
    ensure('readiness', readinessProbe);
    if (!deleting) ensure('liveness', livenessProbe);
  }

  private probedOf(pod: Pod, container: Container, id: string): Probed {
    const known = this.containers.get(id);
    if (known) return known;
    const { name = '', namespace = '' } = pod.metadata;
    const podUID = uidOf(pod);
    const labels = { container: container.name, namespace, pod: name, pod_uid: podUID };
    const probed: Probed = { podUID, workers: new Map(), results: new Map(), labels, counts: new Map() };
    this.containers.set(id, probed);
    return probed;
  }

  private worker(at: {
    pod: Pod;
    container: Container;
    current: RuntimeContainer;
    podIP: string;
    kind: ProbeKind;
    probe: Probe;
    probed: Probed;
  }): ProbeWorker {
    const { pod, container, current, podIP, kind, probe, probed } = at;
    const { clock, events, onChange } = this.deps;
    return new ProbeWorker({
      kind,
      probe,
      clock,
      startedAt: current.startedAt,
      run: () => runProbe(probe, { pod, container, containerId: current.id, podIP }, this.deps),
      onOutcome: ({ result }) => {
        const key = `${kind} ${result}`;
        probed.counts.set(key, (probed.counts.get(key) ?? 0) + 1);
      },
      onTrouble: ({ result, output }) => {
        events.container(pod, container.name, {
          type: 'Warning',
          reason: result === 'success' ? 'ProbeWarning' : 'Unhealthy',
          message: `${titles[kind]} ${troubles[result]}: ${output}`,
        });
      },
      onResult: (result) => {
        probed.results.set(kind, result);
        onChange(uidOf(pod));
      },
    });
  }
}
