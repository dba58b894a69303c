import type { IncomingMessage } from 'node:http';
import { LruMap, type Clock, type Logger } from '@tinkernetes/component-base';
import type { KubeletConnections } from '../proxy/kubelet-connection';

interface Usage {
  time?: string;
  usageNanoCores?: number;
}
interface MemoryUsage {
  workingSetBytes?: number;
}

/** Of the kubelet's `/stats/summary` what usage is read from. Source: k8s.io/kubelet/pkg/apis/stats/v1alpha1. */
export interface StatsSummary {
  node?: { cpu?: Usage; memory?: MemoryUsage };
  pods?: {
    podRef?: { name?: string; namespace?: string; uid?: string };
    containers?: { name?: string; cpu?: Usage; memory?: MemoryUsage }[];
  }[];
}

/** Reads of the same node within this time share one answer: `kubectl top` and an autoscaler ask in bursts. */
const freshMs = 2_000;
/** As the metrics server: a node that is slower has no metrics this time. */
const timeoutMs = 10_000;
const maxNodes = 5_000;
const path = '/stats/summary?only_cpu_and_memory=true';

export interface StatsReaderDeps {
  kubelets: Pick<KubeletConnections, 'request'>;
  clock: Clock;
  logger: Logger;
}

/** Asks kubelets for their statistics when somebody wants to know, and only then. */
export class StatsReader {
  private readonly answers = new LruMap<string, { at: number; summary: Promise<StatsSummary | undefined> }>(
    maxNodes,
  );

  constructor(private readonly deps: StatsReaderDeps) {}

  /** undefined: the node does not answer. */
  read(nodeName: string): Promise<StatsSummary | undefined> {
    const { clock, logger } = this.deps;
    const known = this.answers.get(nodeName);
    if (known && clock.monotonic() - known.at < freshMs) return known.summary;
    const summary = this.fetch(nodeName).catch((error: unknown) => {
      logger.info({ node: nodeName, err: error }, 'no metrics of the node: its kubelet does not answer');
      return undefined;
    });
    this.answers.set(nodeName, { at: clock.monotonic(), summary });
    return summary;
  }

  private async fetch(nodeName: string): Promise<StatsSummary> {
    const limit = new AbortController();
    const timer = this.deps.clock.setTimeout(
      () => limit.abort(new Error(`no answer within ${timeoutMs / 1000} s`)),
      timeoutMs,
    );
    try {
      const outgoing = await this.deps.kubelets.request(nodeName, path, { signal: limit.signal });
      const answer = await new Promise<IncomingMessage>((resolve, reject) => {
        outgoing.once('response', resolve);
        outgoing.once('error', reject);
        outgoing.end();
      });
      let text = '';
      for await (const chunk of answer.setEncoding('utf8')) text += String(chunk);
      if (answer.statusCode !== 200) throw new Error(`${answer.statusCode ?? 0}: ${text.trim()}`);
      return JSON.parse(text) as StatsSummary;
    } finally {
      timer.cancel();
    }
  }
}
