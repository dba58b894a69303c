import type { Pod } from '@tinkernetes/api';
import type { Logger } from '@tinkernetes/component-base';
import type { NodeInfo } from '../cache/node-info';
import type { ScoreTable } from '../framework/framework';
import { unresolvable, unschedulable } from '../framework/status';
import { maxNodeScore, type Diagnosis } from '../framework/types';
import type { Candidate } from '../plugins/preemption-victims';
import { extenderName, maxExtenderScore, type Extender, type PreemptContext } from './extender';

/** The extenders of a scheduler, as its cycles use them. */
export class Extenders {
  constructor(
    private readonly extenders: readonly Extender[],
    private readonly logger: Logger,
    private readonly signal: AbortSignal,
  ) {}

  /** Whether any of them has a say about the Pod's node. */
  concern(pod: Pod): boolean {
    return this.extenders.some(
      (extender) => (extender.canFilter || extender.canPrioritize) && extender.isInterested(pod),
    );
  }

  canPrioritize(pod: Pod): boolean {
    return this.extenders.some((extender) => extender.canPrioritize && extender.isInterested(pod));
  }

  /** One after the other, each with what the one before left. */
  async filter(pod: Pod, nodes: readonly NodeInfo[], diagnosis: Diagnosis): Promise<readonly NodeInfo[]> {
    let left = nodes;
    for (const extender of this.extenders) {
      if (left.length === 0) break;
      if (!extender.canFilter || !extender.isInterested(pod)) continue;
      const result = await this.tolerating(extender, extender.filter(pod, left, this.signal));
      if (!result) continue;
      for (const [node, reason] of Object.entries(result.failed))
        diagnosis.statuses.set(node, { ...unschedulable(reason), plugin: extenderName });
      for (const [node, reason] of Object.entries(result.unresolvable))
        diagnosis.statuses.set(node, { ...unresolvable(reason), plugin: extenderName });
      left = result.nodes;
    }
    if (left.length !== nodes.length) diagnosis.unschedulablePlugins.add(extenderName);
    return left;
  }

  /** Adds the extenders' scores to the table. One that fails scores nothing. */
  async score(pod: Pod, nodes: readonly NodeInfo[], table: ScoreTable): Promise<void> {
    const scale = maxNodeScore / maxExtenderScore;
    const scoring = this.extenders.filter((e) => e.canPrioritize && e.isInterested(pod));
    await Promise.all(
      scoring.map(async (extender) => {
        const scores = await extender.prioritize(pod, nodes, this.signal).catch((error: unknown) => {
          this.logger.warn({ err: error, extender: extender.name }, 'No score given by this extender');
          return undefined;
        });
        if (!scores) return;
        const raw = table.nodes.map((node) => scores.get(node) ?? 0);
        const normalized = raw.map((score) => score * scale);
        normalized.forEach(
          (score, i) => (table.totals[i] = (table.totals[i] ?? 0) + score * extender.weight),
        );
        table.plugins.push({ plugin: extender.name, weight: extender.weight, raw, normalized });
      }),
    );
  }

  /** The candidates that all extenders agree to. Throws when one that may not be ignored fails. */
  async preempt(
    pod: Pod,
    candidates: readonly Candidate[],
    podsOn: PreemptContext['podsOn'],
  ): Promise<readonly Candidate[]> {
    let left = candidates;
    for (const extender of this.extenders) {
      if (left.length === 0) break;
      if (!extender.canPreempt || !extender.isInterested(pod)) continue;
      const asked = extender.preempt(pod, left, { signal: this.signal, podsOn });
      const agreed = await this.tolerating(extender, asked);
      if (!agreed) continue;
      const empty = agreed.find(({ victims }) => victims.length === 0);
      if (empty && !extender.isIgnorable)
        throw new Error(`expected at least one victim pod on node "${empty.node}"`);
      left = agreed.filter(({ victims }) => victims.length > 0);
    }
    return left;
  }

  /** False: none of them binds this Pod. Throws when the one that does fails. */
  async bind(pod: Pod, node: string, signal: AbortSignal): Promise<boolean> {
    for (const extender of this.extenders) {
      if (!extender.canBind || !extender.isInterested(pod)) continue;
      const bound = extender.bind(pod, node, signal).then(() => true);
      if (await this.tolerating(extender, bound)) return true;
    }
    return false;
  }

  /** Undefined: it failed, which may be ignored. */
  private async tolerating<T>(extender: Extender, asked: Promise<T>): Promise<T | undefined> {
    try {
      return await asked;
    } catch (error) {
      if (!extender.isIgnorable) throw error;
      this.logger.info(
        { err: error, extender: extender.name },
        'Skipping extender as it returned error and has ignorable flag set',
      );
      return undefined;
    }
  }
}
