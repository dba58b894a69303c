import { readFile } from 'node:fs/promises';
import { ConfigMaps, Namespaces } from '@tinkernetes/api';
import { isNotFound, StatusError } from '@tinkernetes/apimachinery';
import { exponentialBuckets } from '@tinkernetes/component-base';
import type { Reconciler } from '@tinkernetes/controller';
import type { ControllerContext, RunnableController } from '../../manager/context';
import { queueController } from '../../manager/queue-controller';
import { isNamespaceTerminating } from '../shared/namespace-terminating';
import { configMapName, isPublishedIn, publishedMap } from './published-map';

/** Keeps ConfigMap `kube-root-ca.crt` in each active Namespace. Source: k8s.io/kubernetes/pkg/controller/certificates/rootcacertpublisher. */
export function startRootCaCertPublisher(context: ControllerContext): RunnableController {
  const { client, clock, flags, informers, metrics } = context;
  const namespaces = informers.for(Namespaces);
  const configMaps = informers.for(ConfigMaps);
  const queue = context.queues.create('root-ca-certificate-publisher-controller');
  namespaces.addEventHandler({
    added: (ns) => queue.add(ns.metadata.name),
    updated: (_, ns) => queue.add(ns.metadata.name),
  });
  const onConfigMap = ({ metadata }: { metadata: { name: string; namespace?: string } }) => {
    if (metadata.name === configMapName && metadata.namespace) queue.add(metadata.namespace);
  };
  configMaps.addEventHandler({ updated: (_, next) => onConfigMap(next), deleted: onConfigMap });
  let rootCa: Promise<string> | undefined;

  const syncs = metrics.counter(
    'root_ca_cert_publisher_sync_total',
    'Number of namespace syncs happened in root ca cert publisher.',
    ['code'],
  );
  const durations = metrics.histogram(
    'root_ca_cert_publisher_sync_duration_seconds',
    'Number of namespace syncs happened in root ca cert publisher.',
    { labelNames: ['code'], buckets: exponentialBuckets(0.001, 2, 15) },
  );
  const publish = async (name: string, signal: AbortSignal): Promise<void> => {
    const file = flags['root-ca-file'];
    if (!file || !isPublishedIn(namespaces.lister.get(name))) return;
    rootCa ??= readFile(file, 'utf8');
    const current = configMaps.lister.get(configMapName, name);
    const next = publishedMap(name, current, await rootCa);
    const maps = client.for(ConfigMaps);
    if (next && current) await maps.update(next, { namespace: name, signal });
    else if (next)
      await maps.create(next, { namespace: name, signal }).catch((error: unknown) => {
        // The namespace is on its way. One that was there before is looked at when the cache shows it.
        if (!isNotFound(error) && !isNamespaceTerminating(error)) throw error;
      });
  };
  const reconciler: Reconciler = {
    name: 'root-ca-certificate-publisher-controller',
    async reconcile(name, { signal }) {
      const startedAt = clock.monotonic();
      const note = (code: number) => {
        syncs.inc({ code });
        durations.observe((clock.monotonic() - startedAt) / 1000, { code });
      };
      try {
        await publish(name, signal);
        note(200);
      } catch (error) {
        note(error instanceof StatusError ? error.code : 500);
        throw error;
      }
    },
  };
  return queueController({ context, queue, reconciler, concurrency: 1 });
}
