import {
  apiVersionOf,
  CustomResourceDefinitions,
  type KubeObject,
  type ResourceDescriptor,
} from '@tinkernetes/api';
import { linkSignals } from '@tinkernetes/component-base';
import { runWorkers, type Reconciler } from '@tinkernetes/controller';
import type { SharedInformer, SharedInformerFactory } from '@tinkernetes/informers';
import type { ControllerContext, RunnableController } from '../../manager/context';
import { GarbageCollector } from './garbage-collector';
import { OwnershipGraph } from './graph';
import { ResourceMap } from './resource-map';

/** Never have owners worth following, and change too often. Upstream's --gc ignored resources. */
const ignored: ReadonlySet<string> = new Set(['events', 'events.events.k8s.io']);
/** Fifty watches begin at once: not in the moment in which nodes join and everybody fills caches. */
const startDelayMs = 1000;
const nameOf = ({ group, resource }: ResourceDescriptor): string =>
  group ? `${resource}.${group}` : resource;

/** Watches all deletable resources, custom ones as they come and go. */
export function startGarbageCollectorController(context: ControllerContext): RunnableController {
  const { client, clock, informers, logger, metrics, signal } = context;
  const failedSyncs = metrics.counter(
    'garbagecollector_controller_resources_sync_error_total',
    'Number of garbage collector resources sync errors',
  );
  const queue = context.queues.create('garbage_collector');
  const graph = new OwnershipGraph({
    attemptToDelete: (node) => queue.add(`delete/${node.uid}`),
    attemptToOrphan: (node) => queue.add(`orphan/${node.uid}`),
  });
  const resources = new ResourceMap(client);
  const followed = new Map<string, SharedInformer<KubeObject>>();
  const collector = new GarbageCollector(context, graph, resources, (descriptor, uid) =>
    followed
      .get(nameOf(descriptor))
      ?.lister.list()
      .find(({ metadata }) => metadata.uid === uid),
  );
  const definitions = informers.for(CustomResourceDefinitions);
  const watched = new Map<string, { stop: AbortController; factory: SharedInformerFactory | undefined }>();

  const follow = (descriptor: ResourceDescriptor, factory: SharedInformerFactory) => {
    const apiVersion = apiVersionOf(descriptor);
    // Whole objects only where another controller keeps them in any case.
    const metadataOnly = !factory.has(descriptor);
    const informer = factory.for(descriptor, { metadataOnly });
    followed.set(nameOf(descriptor), informer);
    informer.addEventHandler({
      added: (object) => graph.observed(object, descriptor, apiVersion),
      updated: (_, object) => graph.observed(object, descriptor, apiVersion),
      deleted: (object) => graph.removed(object.metadata.uid ?? ''),
    });
  };

  /** Built-in resources share the manager's caches; each custom one has its own, which ends with its definition. */
  async function followAll(): Promise<void> {
    const current = await resources.refresh();
    const custom = new Set(definitions.lister.list().map((d) => `${d.spec.names.plural}.${d.spec.group}`));
    const wanted = new Map(current.filter((r) => !ignored.has(nameOf(r))).map((r) => [nameOf(r), r]));
    for (const [name, { stop }] of watched) {
      if (wanted.has(name)) continue;
      stop.abort(new Error('the resource is no longer served'));
      watched.delete(name);
      followed.delete(name);
    }
    for (const [name, descriptor] of wanted) {
      if (watched.has(name)) continue;
      const stop = new AbortController();
      const factory = custom.has(name)
        ? context.ownInformers(linkSignals(signal, stop.signal).signal)
        : undefined;
      watched.set(name, { stop, factory });
      follow(descriptor, factory ?? informers);
      factory?.start();
    }
    informers.start();
  }

  const reconciler: Reconciler = {
    name: 'garbage-collector-controller',
    reconcile(key) {
      const [what, uid = ''] = key.split('/');
      return what === 'orphan' ? collector.attemptToOrphan(uid) : collector.attemptToDelete(uid);
    },
  };

  /** One discovery at a time; a change during one asks for another. */
  let again = false;
  let syncing: Promise<void> | undefined;
  const resync = () => {
    again = true;
    syncing ??= (async () => {
      while (again && !signal.aborted) {
        again = false;
        await followAll().catch(async (error: unknown) => {
          if (signal.aborted) return;
          failedSyncs.inc();
          logger.warn({ err: error }, 'could not discover the resources to watch, trying again');
          await clock.sleep(1000, signal).catch(() => undefined);
          again = true;
        });
      }
    })().finally(() => (syncing = undefined));
  };

  return {
    async run() {
      const begin = clock.setTimeout(() => {
        definitions.addEventHandler({ added: resync, updated: resync, deleted: resync });
        resync();
      }, startDelayMs);
      await runWorkers({
        queue,
        reconciler,
        concurrency: context.flags['concurrent-gc-syncs'],
        logger,
        signal,
        caughtUp: context.caughtUp,
      });
      begin.cancel();
      await syncing;
      await Promise.all([...watched.values()].map(({ factory }) => factory?.stopped()));
    },
  };
}
