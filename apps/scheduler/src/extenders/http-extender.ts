import { readFile } from 'node:fs/promises';
import type { Pod } from '@tinkernetes/api';
import { UsageError } from '@tinkernetes/component-base';
import type { NodeInfo } from '../cache/node-info';
import { uidOf } from '../cache/pod-info';
import type { ExtenderConfiguration, ExtenderTls } from '../config/types';
import type { Candidate } from '../plugins/preemption-victims';
import type {
  Extender,
  ExtenderArgs,
  ExtenderFilterResult,
  ExtenderPreemptionResult,
  FilterResult,
  HostPriorityList,
  MetaVictims,
  PreemptContext,
} from './extender';
import { ExtenderConnection, type TlsMaterial } from './connection';

/** Calls an extender's verbs with POST. Every call may throw: a network error, a bad answer, the extender's own error. */
export class HttpExtender implements Extender {
  readonly name: string;
  readonly weight: number;
  readonly isIgnorable: boolean;
  readonly canFilter: boolean;
  readonly canPrioritize: boolean;
  readonly canPreempt: boolean;
  readonly canBind: boolean;

  constructor(
    private readonly options: ExtenderConfiguration,
    private readonly connection: ExtenderConnection,
  ) {
    this.name = options.urlPrefix;
    this.weight = options.weight;
    this.isIgnorable = options.ignorable;
    this.canFilter = options.filterVerb !== '';
    this.canPrioritize = options.prioritizeVerb !== '';
    this.canPreempt = options.preemptVerb !== '';
    this.canBind = options.bindVerb !== '';
  }

  isInterested({ spec }: Pod): boolean {
    const managed = this.options.managedResources;
    if (managed.length === 0) return true;
    return [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])].some(({ resources }) =>
      managed.some(({ name }) => name in (resources?.requests ?? {}) || name in (resources?.limits ?? {})),
    );
  }

  async filter(pod: Pod, nodes: readonly NodeInfo[], signal: AbortSignal): Promise<FilterResult> {
    const verb = this.options.filterVerb;
    const result = await this.connection.call<ExtenderFilterResult>(verb, this.about(pod, nodes), signal);
    if (result.Error) throw new Error(result.Error);
    return {
      nodes: this.chosen(result, nodes),
      failed: result.FailedNodes ?? {},
      unresolvable: result.FailedAndUnresolvableNodes ?? {},
    };
  }

  async prioritize(pod: Pod, nodes: readonly NodeInfo[], signal: AbortSignal): Promise<Map<string, number>> {
    const verb = this.options.prioritizeVerb;
    const scores = await this.connection.call<HostPriorityList>(verb, this.about(pod, nodes), signal);
    return new Map(scores.map(({ Host, Score }) => [Host, Score]));
  }

  async preempt(
    pod: Pod,
    candidates: readonly Candidate[],
    { signal, podsOn }: PreemptContext,
  ): Promise<Candidate[]> {
    const verb = this.options.preemptVerb;
    const body = { Pod: withKind(pod), ...this.victimsOf(candidates) };
    const result = await this.connection.call<ExtenderPreemptionResult>(verb, body, signal);
    return Object.entries(result.NodeNameToMetaVictims ?? {}).map(([node, victims]) => ({
      node,
      victims: this.lookUp(node, victims, podsOn),
      violatedBudgets: victims.NumPDBViolations,
    }));
  }

  async bind(pod: Pod, node: string, signal: AbortSignal): Promise<void> {
    const { name, namespace } = pod.metadata;
    const body = { PodName: name, PodNamespace: namespace, PodUID: uidOf(pod), Node: node };
    const result = await this.connection.call<{ Error?: string }>(this.options.bindVerb, body, signal);
    if (result.Error) throw new Error(result.Error);
  }

  private about(pod: Pod, nodes: readonly NodeInfo[]): ExtenderArgs {
    const Pod = withKind(pod);
    return this.options.nodeCacheCapable
      ? { Pod, NodeNames: nodes.map(({ name }) => name) }
      : { Pod, Nodes: { items: nodes.map(({ node }) => node) } };
  }

  private chosen(result: ExtenderFilterResult, nodes: readonly NodeInfo[]): NodeInfo[] {
    const names =
      this.options.nodeCacheCapable && result.NodeNames
        ? result.NodeNames
        : (result.Nodes?.items ?? []).map(({ metadata }) => metadata.name);
    const byName = new Map(nodes.map((node) => [node.name, node]));
    return names.map((name) => {
      const node = byName.get(name);
      if (!node)
        throw new Error(
          `extender "${this.name}" claims a filtered node "${name}" which is not found in the input node list`,
        );
      return node;
    });
  }

  private victimsOf(candidates: readonly Candidate[]): object {
    const byNode = <T>(victims: (candidate: Candidate) => T) =>
      Object.fromEntries(candidates.map((candidate) => [candidate.node, victims(candidate)]));
    if (this.options.nodeCacheCapable) {
      return {
        NodeNameToMetaVictims: byNode(({ victims, violatedBudgets }) => ({
          Pods: victims.map((victim) => ({ UID: uidOf(victim.pod) })),
          NumPDBViolations: violatedBudgets,
        })),
      };
    }
    return {
      NodeNameToVictims: byNode(({ victims, violatedBudgets }) => ({
        Pods: victims.map((victim) => withKind(victim.pod)),
        NumPDBViolations: violatedBudgets,
      })),
    };
  }

  private lookUp(node: string, { Pods }: MetaVictims, podsOn: PreemptContext['podsOn']) {
    return (Pods ?? []).map(({ UID }) => {
      const found = podsOn(node).find((info) => uidOf(info.pod) === UID);
      if (!found)
        throw new Error(
          `extender: ${this.name} claims to preempt pod (UID: ${UID}) on node: ${node}, but the pod is not found on that node`,
        );
      return found;
    });
  }
}

const withKind = (pod: Pod): Pod => ({ ...pod, apiVersion: 'v1', kind: 'Pod' });

/** Those that may be ignored come last, so that they see what the others left. */
export async function createExtenders(configured: readonly ExtenderConfiguration[]): Promise<Extender[]> {
  const made = await Promise.all(
    configured.map(async (options) => {
      const { urlPrefix, timeoutMs, tls } = options;
      const material = tls && (await readTls(tls));
      return new HttpExtender(options, new ExtenderConnection({ urlPrefix, timeoutMs, tls: material }));
    }),
  );
  return [...made.filter((e) => !e.isIgnorable), ...made.filter((e) => e.isIgnorable)];
}

async function readTls(tls: ExtenderTls): Promise<TlsMaterial> {
  const text = async (data: string | undefined, file: string | undefined) => {
    if (data) return Buffer.from(data, 'base64').toString();
    try {
      return file && (await readFile(file, 'utf8'));
    } catch (error) {
      throw new UsageError(`extender: ${error instanceof Error ? error.message : String(error)}`);
    }
  };
  const { insecure = false, serverName } = tls;
  if (insecure && (tls.caData || tls.caFile))
    throw new UsageError(
      'extender: specifying a root certificates file with the insecure flag is not allowed',
    );
  return {
    insecure,
    serverName,
    cert: await text(tls.certData, tls.certFile),
    key: await text(tls.keyData, tls.keyFile),
    ca: await text(tls.caData, tls.caFile),
  };
}
