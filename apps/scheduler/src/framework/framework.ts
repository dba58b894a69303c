import type { Pod } from '@tinkernetes/api';
import type { NodeInfo } from '../cache/node-info';
import { podInfoOf, uidOf, type PodInfo } from '../cache/pod-info';
import type { Snapshot } from '../cache/snapshot';
import type { QueuedPod } from '../queue/queued-pod';
import type { EventHint } from './cluster-event';
import type { CycleState } from './cycle-state';
import { failed, unschedulable, type Code, type Status } from './status';
import type {
  BindTarget,
  Diagnosis,
  Handle,
  NodeScore,
  Plugin,
  PostFilterResult,
  PreFilterResult,
} from './types';
import { WaitingPods } from './waiting-pods';

/** A plugin as a profile uses it. `weight` is that of its scores. */
export interface ProfilePlugin {
  plugin: Plugin;
  weight: number;
}
export type ExtensionPoint =
  | 'preEnqueue'
  | 'queueSort'
  | 'preFilter'
  | 'filter'
  | 'postFilter'
  | 'preScore'
  | 'score'
  | 'reserve'
  | 'permit'
  | 'preBind'
  | 'bind'
  | 'postBind';
export type ProfilePlugins = Readonly<Record<ExtensionPoint, readonly ProfilePlugin[]>>;

/** Told how long an extension point took (seconds) and how it ended, under upstream's names. */
export type PointObserver = (point: string, status: Code | 'Success', seconds: number) => void;

/** Scores of nodes: their totals, and how they came about, each list in the order of `nodes`. */
export interface ScoreTable {
  readonly nodes: readonly string[];
  readonly totals: number[];
  readonly plugins: { plugin: string; weight: number; raw: number[]; normalized: number[] }[];
}

/** `narrowedBy`: the plugins that left nodes out. */
export type PreFilterOutcome =
  | { kind: 'nodes'; nodes: ReadonlySet<string> | undefined; narrowedBy: readonly string[] }
  | { kind: 'refused'; status: Status };

/** Runs one profile's plugins at each extension point. */
export class Framework {
  readonly waitingPods: WaitingPods;

  constructor(
    readonly profile: string,
    private readonly plugins: ProfilePlugins,
    private readonly handle: Handle,
    private readonly observe: PointObserver = () => undefined,
  ) {
    this.waitingPods = new WaitingPods(handle.clock);
  }

  preEnqueue(pod: Pod): Status | undefined {
    for (const { plugin } of this.plugins.preEnqueue) {
      const status = plugin.preEnqueue?.(pod);
      if (status) return { ...status, plugin: plugin.name };
    }
    return undefined;
  }

  less(a: QueuedPod, b: QueuedPod): boolean {
    return this.plugins.queueSort[0]?.plugin.less?.(a, b) ?? false;
  }

  /** Undefined: any event may help a Pod that the plugin refused. */
  hintsOf(name: string): readonly EventHint[] | undefined {
    for (const list of Object.values(this.plugins)) {
      const found = list.find(({ plugin }) => plugin.name === name);
      if (found) return found.plugin.events;
    }
    return undefined;
  }

  preFilter(state: CycleState, pod: Pod, snapshot: Snapshot): PreFilterOutcome {
    const outcome = (result: PreFilterOutcome) => (result.kind === 'refused' ? result.status : undefined);
    return this.timed('PreFilter', () => this.runPreFilter(state, pod, snapshot), outcome);
  }

  /** Measures a search through nodes, all calls of Filter together. */
  filterAll<T>(search: () => T, outcome: (result: T) => Status | undefined): T {
    return this.timed('Filter', search, outcome);
  }

  private runPreFilter(state: CycleState, pod: Pod, snapshot: Snapshot): PreFilterOutcome {
    let nodes: ReadonlySet<string> | undefined;
    const narrowedBy: string[] = [];
    for (const { plugin } of this.plugins.preFilter) {
      const result: PreFilterResult = plugin.preFilter?.(state, pod, snapshot) ?? {};
      if (result.status?.code === 'Skip') {
        state.skipFilter.add(plugin.name);
        continue;
      }
      if (result.status) return { kind: 'refused', status: { ...result.status, plugin: plugin.name } };
      if (!result.nodes) continue;
      narrowedBy.push(plugin.name);
      const before = nodes;
      nodes = before ? new Set([...result.nodes].filter((name) => before.has(name))) : result.nodes;
      if (nodes.size === 0) {
        const reason =
          narrowedBy.length === 1
            ? `node(s) didn't satisfy plugin ${plugin.name}`
            : `node(s) didn't satisfy plugin(s) [${narrowedBy.join(' ')}] simultaneously`;
        return {
          kind: 'refused',
          status: { code: 'UnschedulableAndUnresolvable', reasons: [reason], plugin: plugin.name },
        };
      }
    }
    return { kind: 'nodes', nodes, narrowedBy };
  }

  filter(state: CycleState, pod: Pod, node: NodeInfo): Status | undefined {
    state.filters ??= this.plugins.filter.flatMap(({ plugin }) =>
      state.skipFilter.has(plugin.name) ? [] : [plugin],
    );
    for (const plugin of state.filters) {
      const status = plugin.filter?.(state, pod, node);
      if (status) return status.plugin === undefined ? { ...status, plugin: plugin.name } : status;
    }
    return undefined;
  }

  /**
   * The node must do with Pods nominated to it counted in, because they will come, and without, because the Pod must
   * not rely on Pods that have not come yet.
   */
  filterWithNominatedPods(state: CycleState, pod: Pod, node: NodeInfo): Status | undefined {
    const nominated = this.handle.nominator.nominatedPods(node.name);
    if (nominated.length === 0) return this.filter(state, pod, node);
    const { priority } = podInfoOf(pod);
    const expected = nominated.filter(
      (other) => other.priority >= priority && uidOf(other.pod) !== uidOf(pod),
    );
    if (expected.length > 0) {
      const withThem = node.clone();
      const stateWithThem = state.clone();
      for (const added of expected) {
        withThem.addPod(added);
        this.addPodToState(stateWithThem, pod, { added, node: withThem });
      }
      const status = this.filter(stateWithThem, pod, withThem);
      if (status) return status;
    }
    return this.filter(state, pod, node);
  }

  addPodToState(state: CycleState, pod: Pod, change: { added: PodInfo; node: NodeInfo }): void {
    for (const { plugin } of this.plugins.preFilter) {
      if (!state.skipFilter.has(plugin.name)) plugin.addPod?.(state, pod, change);
    }
  }

  removePodFromState(state: CycleState, pod: Pod, change: { removed: PodInfo; node: NodeInfo }): void {
    for (const { plugin } of this.plugins.preFilter) {
      if (!state.skipFilter.has(plugin.name)) plugin.removePod?.(state, pod, change);
    }
  }

  postFilter(state: CycleState, pod: Pod, diagnosis: Diagnosis): Promise<PostFilterResult> {
    return this.timedAsync(
      'PostFilter',
      () => this.runPostFilter(state, pod, diagnosis),
      ({ status }) => status,
    );
  }

  private async runPostFilter(state: CycleState, pod: Pod, diagnosis: Diagnosis): Promise<PostFilterResult> {
    let nominatedNode: string | undefined;
    const messages: string[] = [];
    for (const { plugin } of this.plugins.postFilter) {
      const result = await plugin.postFilter?.(state, pod, diagnosis);
      if (!result) continue;
      nominatedNode = result.nominatedNode ?? nominatedNode;
      if (!result.status || result.status.code === 'Error') return { status: result.status, nominatedNode };
      messages.push(...result.status.reasons);
    }
    return { status: unschedulable(...messages), nominatedNode };
  }

  /** Throws when a plugin fails. */
  score(state: CycleState, pod: Pod, nodes: readonly NodeInfo[]): ScoreTable {
    this.timed('PreScore', () => this.preScore(state, pod, nodes), never);
    return this.timed('Score', () => this.runScore(state, pod, nodes), never);
  }

  private preScore(state: CycleState, pod: Pod, nodes: readonly NodeInfo[]): void {
    for (const { plugin } of this.plugins.preScore) {
      const status = plugin.preScore?.(state, pod, nodes);
      if (status?.code === 'Skip') state.skipScore.add(plugin.name);
      else if (status) throw new Error(`${plugin.name}: ${status.reasons.join(', ')}`);
    }
  }

  private runScore(state: CycleState, pod: Pod, nodes: readonly NodeInfo[]): ScoreTable {
    const table: ScoreTable = {
      nodes: nodes.map(({ name }) => name),
      totals: nodes.map(() => 0),
      plugins: [],
    };
    for (const { plugin, weight } of this.plugins.score) {
      if (state.skipScore.has(plugin.name) || !plugin.score) continue;
      const raw = nodes.map((node) => plugin.score?.(state, pod, node) ?? 0);
      const normalized = this.normalize(state, pod, { plugin, nodes, raw });
      normalized.forEach((score, i) => (table.totals[i] = (table.totals[i] ?? 0) + score * weight));
      table.plugins.push({ plugin: plugin.name, weight, raw, normalized });
    }
    return table;
  }

  private normalize(
    state: CycleState,
    pod: Pod,
    { plugin, nodes, raw }: { plugin: Plugin; nodes: readonly NodeInfo[]; raw: number[] },
  ): number[] {
    if (!plugin.normalizeScore) return raw;
    const scores: NodeScore[] = nodes.map(({ name }, i) => ({ node: name, score: raw[i] ?? 0 }));
    plugin.normalizeScore(state, pod, scores);
    return scores.map(({ score }) => score);
  }

  reserve(state: CycleState, pod: Pod, node: string): Status | undefined {
    return this.timed('Reserve', () => this.runReserve(state, pod, node), itself);
  }

  private runReserve(state: CycleState, pod: Pod, node: string): Status | undefined {
    for (const { plugin } of this.plugins.reserve) {
      const status = plugin.reserve?.(state, pod, node);
      if (status) return { ...status, plugin: plugin.name };
    }
    return undefined;
  }

  /** In reverse order; plugins whose Reserve did not run must bear it. */
  unreserve(state: CycleState, pod: Pod, node: string): void {
    const undo = () => {
      for (const { plugin } of [...this.plugins.reserve].reverse()) plugin.unreserve?.(state, pod, node);
    };
    this.timed('Unreserve', undo, never);
  }

  /** A refusal, or undefined; `waitOnPermit` then waits for plugins that asked for it. */
  permit(state: CycleState, pod: Pod, node: string): Status | undefined {
    return this.timed('Permit', () => this.runPermit(state, pod, node), itself);
  }

  private runPermit(state: CycleState, pod: Pod, node: string): Status | undefined {
    const waits: { plugin: string; timeoutMs: number }[] = [];
    for (const { plugin } of this.plugins.permit) {
      const { status, timeoutMs = 0 } = plugin.permit?.(state, pod, node) ?? { status: undefined };
      if (status?.code === 'Wait') waits.push({ plugin: plugin.name, timeoutMs });
      else if (status) return { ...status, plugin: plugin.name };
    }
    if (waits.length > 0) this.waitingPods.add(uidOf(pod), waits);
    return undefined;
  }

  /** Undefined: nobody asked to wait. */
  waitOnPermit(pod: Pod): Promise<Status | undefined> | undefined {
    return this.waitingPods.wait(uidOf(pod));
  }

  preBind(state: CycleState, pod: Pod, target: BindTarget): Promise<Status | undefined> {
    return this.timedAsync('PreBind', () => this.runPreBind(state, pod, target), itself);
  }

  private async runPreBind(
    state: CycleState,
    pod: Pod,
    { node, signal }: BindTarget,
  ): Promise<Status | undefined> {
    for (const { plugin } of this.plugins.preBind) {
      const status = await plugin.preBind?.(state, pod, node, signal);
      if (status) return { ...status, plugin: plugin.name };
    }
    return undefined;
  }

  /** An extender, or else the first plugin that doesn't skip, binds. */
  bind(state: CycleState, pod: Pod, target: BindTarget): Promise<Status | undefined> {
    return this.timedAsync('Bind', () => this.runBind(state, pod, target), itself);
  }

  private async runBind(state: CycleState, pod: Pod, target: BindTarget): Promise<Status | undefined> {
    try {
      if (await this.handle.extenders.bind(pod, target.node, target.signal)) return undefined;
    } catch (error) {
      return failed(error);
    }
    for (const { plugin } of this.plugins.bind) {
      const status = await plugin.bind?.(state, pod, target);
      if (status?.code !== 'Skip') return status && { ...status, plugin: plugin.name };
    }
    return failed(new Error(`no bind plugin of profile ${this.profile} took the Pod`));
  }

  postBind(state: CycleState, pod: Pod, node: string): void {
    const tell = () => {
      for (const { plugin } of this.plugins.postBind) plugin.postBind?.(state, pod, node);
    };
    this.timed('PostBind', tell, never);
  }

  private timed<T>(point: string, run: () => T, outcome: (result: T) => Status | undefined): T {
    const start = this.handle.clock.monotonic();
    const result = run();
    this.measured(point, outcome(result), start);
    return result;
  }

  private async timedAsync<T>(
    point: string,
    run: () => Promise<T>,
    outcome: (result: T) => Status | undefined,
  ): Promise<T> {
    const start = this.handle.clock.monotonic();
    const result = await run();
    this.measured(point, outcome(result), start);
    return result;
  }

  private measured(point: string, status: Status | undefined, start: number): void {
    this.observe(point, status?.code ?? 'Success', (this.handle.clock.monotonic() - start) / 1000);
  }
}

const itself = (status: Status | undefined): Status | undefined => status;
const never = (): undefined => undefined;
