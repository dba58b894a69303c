import { Nodes, Pods, type KubeObject, type Node, type Pod } from '@tinkernetes/api';
import type { Client } from '@tinkernetes/client';
import type { RunContext } from '@tinkernetes/component-base';
import {
  createSharedInformerFactory,
  type EventHandler,
  type SharedInformer,
  type SharedInformerFactory,
} from '@tinkernetes/informers';

export type NodeWatchDeps = { client: Client } & Pick<RunContext, 'clock' | 'random' | 'logger' | 'signal'>;

const byNode = 'node';

/**
 * A node's own API object and the Pods that are bound to it: watched for one node, which may see no others, or once for
 * all nodes of a process that share an identity. Each hears of its own objects only, however many nodes there are.
 */
export class NodeWatch {
  private readonly informers: SharedInformerFactory;
  private readonly nodes: SharedInformer<Node>;
  private readonly pods: SharedInformer<Pod>;
  private readonly nodeHandlers = new Map<string, EventHandler<Node>>();
  private readonly podHandlers = new Map<string, EventHandler<Pod>>();
  /** Told to who came late, while the informer's own notification was still to come. */
  private readonly told = new WeakSet<KubeObject>();

  /** `nodeName` left out: of all nodes. */
  constructor(deps: NodeWatchDeps, nodeName?: string) {
    this.informers = createSharedInformerFactory(deps);
    this.nodes = this.informers.for(Nodes, nodeName ? { fieldSelector: `metadata.name=${nodeName}` } : {});
    this.pods = this.informers.for(Pods, {
      fieldSelector: nodeName ? `spec.nodeName=${nodeName}` : 'spec.nodeName!=',
    });
    this.pods.addIndex(byNode, (pod) => [nodeOf(pod)]);
    this.nodes.addEventHandler(this.dispatch(this.nodeHandlers, (node) => node.metadata.name));
    this.pods.addEventHandler(this.dispatch(this.podHandlers, nodeOf));
  }

  /** As last seen. */
  node(name: string): Node | undefined {
    return this.nodes.lister.get(name);
  }

  /** Resolves when the Node, which has been registered before, is known. */
  followNode(name: string, handler: EventHandler<Node>, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason as Error);
      const onAbort = () => reject(signal.reason as Error);
      signal.addEventListener('abort', onAbort, { once: true });
      const added = (node: Node, isInInitialList: boolean) => {
        handler.added?.(node, isInInitialList);
        signal.removeEventListener('abort', onAbort);
        resolve();
      };
      this.nodeHandlers.set(name, { ...handler, added });
      const known = this.node(name);
      if (known) this.replay(known, added);
      this.informers.start();
    });
  }

  /** Resolves when the handler has been told of all Pods that there are. */
  async followPods(nodeName: string, handler: EventHandler<Pod>, signal: AbortSignal): Promise<void> {
    this.informers.start();
    await this.pods.waitForSync(signal);
    this.podHandlers.set(nodeName, handler);
    for (const pod of this.pods.lister.byIndex(byNode, nodeName))
      this.replay(pod, (known) => handler.added?.(known, true));
  }

  /** Tells the node nothing any more. */
  leave(nodeName: string): void {
    this.nodeHandlers.delete(nodeName);
    this.podHandlers.delete(nodeName);
  }

  /** Resolves when the watches have ended after the signal. */
  stopped(): Promise<void> {
    return this.informers.stopped();
  }

  private replay<T extends KubeObject>(
    object: T,
    added: (object: T, isInInitialList: boolean) => void,
  ): void {
    this.told.add(object);
    added(object, true);
  }

  private dispatch<T extends KubeObject>(
    handlers: ReadonlyMap<string, EventHandler<T>>,
    nameOf: (object: T) => string,
  ): EventHandler<T> {
    return {
      added: (object, isInInitialList) => {
        if (!this.told.has(object)) handlers.get(nameOf(object))?.added?.(object, isInInitialList);
      },
      updated: (old, object) => handlers.get(nameOf(object))?.updated?.(old, object),
      deleted: (object) => handlers.get(nameOf(object))?.deleted?.(object),
    };
  }
}

const nodeOf = ({ spec }: Pod): string => spec.nodeName ?? '';
