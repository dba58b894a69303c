import type { KubeObject, Node, Pod } from '@tinkernetes/api';
import type { Client } from '@tinkernetes/client';
import { SeededRandom, silentLogger, VirtualClock } from '@tinkernetes/component-base/testing';
import { SchedulerCache } from '../cache/scheduler-cache';
import { createProfilePlugins } from '../config/profile-plugins';
import { CycleState } from '../framework/cycle-state';
import { fitMessage } from '../framework/fit-error';
import { Extenders } from '../extenders/consult';
import type { Extender } from '../extenders/extender';
import { Framework } from '../framework/framework';
import type { Handle, PluginFactory } from '../framework/types';
import { PodNominator } from '../queue/nominator';
import {
  findNode,
  findNodeWithExtenders,
  type FindNodeOptions,
  type Placement,
} from '../scheduler/find-node';
import { listedInformers } from './listed-informers';

export interface TestClusterOptions {
  nodes: readonly Node[];
  /** With a node name: running there. */
  pods?: readonly Pod[];
  /** Services, Namespaces and what else plugins look up. */
  objects?: readonly KubeObject[];
  pluginConfig?: Record<string, Record<string, unknown>>;
  percentageOfNodesToScore?: number;
  extenders?: readonly Extender[];
  registry?: readonly { factory: PluginFactory; weight: number }[];
}

/** Nodes, Pods and the default profile: everything that decides about a placement, without an API server. */
export class TestCluster {
  readonly cache = new SchedulerCache();
  readonly nominator = new PodNominator();
  readonly clock = new VirtualClock();
  readonly framework: Framework;
  readonly handle: Handle;
  private readonly startIndex = { value: 0 };
  private readonly random = new SeededRandom(3);
  private readonly signal = new AbortController().signal;

  constructor(private readonly options: TestClusterOptions) {
    for (const node of options.nodes) this.cache.putNode(node);
    for (const pod of options.pods ?? []) this.cache.putPod(pod);
    const profile = {
      schedulerName: 'default-scheduler',
      plugins: {},
      pluginConfig: new Map(Object.entries(options.pluginConfig ?? {})),
    };
    this.handle = {
      profile: profile.schedulerName,
      // Nothing that these tests do talks to a server.
      client: {} as Client,
      informers: listedInformers(options.objects ?? []),
      clock: this.clock,
      random: this.random,
      logger: silentLogger,
      recorder: { event: () => undefined, flush: async () => undefined },
      nominator: this.nominator,
      preempting: () => undefined,
      signal: this.signal,
      extenders: new Extenders(options.extenders ?? [], silentLogger, this.signal),
      snapshot: () => this.cache.lastSnapshot,
      filterWithNominatedPods: (state, pod, node) => this.framework.filterWithNominatedPods(state, pod, node),
      addPodToState: (state, pod, change) => this.framework.addPodToState(state, pod, change),
      removePodFromState: (state, pod, change) => this.framework.removePodFromState(state, pod, change),
      activateHeldBack: () => undefined,
      rejectWaitingPod: () => false,
    };
    this.framework = new Framework(
      profile.schedulerName,
      createProfilePlugins(profile, this.handle, options.registry),
      this.handle,
    );
  }

  place(pod: Pod): Placement {
    return findNode(new CycleState(), pod, this.searchOptions());
  }

  /** The same, with the extenders asked. */
  placeWithExtenders(pod: Pod): Promise<Placement> {
    const { extenders } = this.handle;
    return findNodeWithExtenders(new CycleState(), pod, { ...this.searchOptions(), extenders });
  }

  private searchOptions(): FindNodeOptions {
    return {
      framework: this.framework,
      snapshot: this.cache.snapshot(),
      random: this.random,
      percentageOfNodesToScore: this.options.percentageOfNodesToScore ?? 100,
      startIndex: this.startIndex,
    };
  }

  /** Places the Pod and counts it there; undefined: it fits nowhere. */
  run(pod: Pod): string | undefined {
    const placement = this.place(pod);
    if (placement.kind !== 'found') return undefined;
    this.cache.assume({
      ...pod,
      spec: { ...(pod.spec as NonNullable<Pod['spec']>), nodeName: placement.node },
    });
    return placement.node;
  }

  /** By node: `ok`, or why not. */
  verdicts(pod: Pod): Record<string, string> {
    const { diagnosis } = this.place(pod);
    return Object.fromEntries(
      this.cache.snapshot().nodes.map(({ name }) => {
        const status = diagnosis.statuses.get(name);
        return [name, status ? status.reasons.join(', ') : 'ok'];
      }),
    );
  }

  message(pod: Pod): string {
    return fitMessage(this.cache.nodeCount, this.place(pod).diagnosis);
  }

  /** Normalized scores of one plugin by node; undefined where it had nothing to say. */
  scores(pod: Pod, plugin: string): Record<string, number | undefined> {
    const placement = this.place(pod);
    const { nodes = [], plugins = [] } = (placement.kind === 'found' && placement.scores) || {};
    const own = plugins.find((entry) => entry.plugin === plugin);
    return Object.fromEntries(nodes.map((node, i) => [node, own?.normalized[i]]));
  }
}
