import { readFile } from 'node:fs/promises';
import { ConfigMaps, Namespaces } from '@tinkernetes/api';
import { isAlreadyExists } from '@tinkernetes/apimachinery';
import type { Reconciler } from '@tinkernetes/controller';
import type { ControllerContext, RunnableController } from '../../manager/context';
import { queueController } from '../../manager/queue-controller';

const configMapName = 'kube-root-ca.crt';
const description =
  'Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.';

/** Keeps ConfigMap `kube-root-ca.crt` in each active Namespace. Source: k8s.io/kubernetes/pkg/controller/certificates/rootcacertpublisher. */
export function startRootCaCertPublisher(context: ControllerContext): RunnableController {
  const { client, flags, informers } = context;
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

  const reconciler: Reconciler = {
    name: 'root-ca-certificate-publisher-controller',
    async reconcile(name, { signal }) {
      const namespace = namespaces.lister.get(name);
      const file = flags['root-ca-file'];
      if (!file || !namespace || namespace.status?.phase === 'Terminating') return;
      rootCa ??= readFile(file, 'utf8');
      const data = { 'ca.crt': await rootCa };
      const current = configMaps.lister.get(configMapName, name);
      const maps = client.for(ConfigMaps);
      if (!current) {
        const metadata = {
          name: configMapName,
          namespace: name,
          annotations: { 'kubernetes.io/description': description },
        };
        await maps.create({ metadata, data }, { namespace: name, signal }).catch((error: unknown) => {
          if (!isAlreadyExists(error)) throw error;
        });
      } else if (
        JSON.stringify(current.data) !== JSON.stringify(data) ||
        current.metadata.annotations?.['kubernetes.io/description'] !== description
      ) {
        const annotations = { ...current.metadata.annotations, 'kubernetes.io/description': description };
        await maps.update(
          { ...current, data, metadata: { ...current.metadata, annotations } },
          { namespace: name, signal },
        );
      }
    },
  };
  return queueController({ context, queue, reconciler, concurrency: 1 });
}
