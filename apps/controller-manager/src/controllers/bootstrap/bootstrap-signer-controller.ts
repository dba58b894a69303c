import { ConfigMaps, Secrets } from '@tinkernetes/api';
import { isConflict } from '@tinkernetes/apimachinery';
import type { ReconcileResult, Reconciler } from '@tinkernetes/controller';
import type { ControllerContext, RunnableController } from '../../manager/context';
import { queueController } from '../../manager/queue-controller';
import { watchObjects } from '../shared/watch-objects';
import { tokenNamespace, tokenType } from './bootstrap-tokens';
import { nextExpiration, signedData } from './signed-data';

const configMapName = 'cluster-info';
const configMapNamespace = 'kube-public';
const onlyKey = 'cluster-info';

/**
 * Signs the kubeconfig in ConfigMap kube-public/cluster-info with each bootstrap token, for nodes that join.
 * Source: k8s.io/kubernetes/pkg/controller/bootstrap/bootstrapsigner.go.
 */
export function startBootstrapSigner(context: ControllerContext): RunnableController {
  const { client, clock, informers } = context;
  const queue = context.queues.create('bootstrap_signer_queue');
  const fieldSelector = `metadata.name=${configMapName}`;
  const configMaps = informers.for(ConfigMaps, { namespace: configMapNamespace, fieldSelector });
  const tokens = informers.for(Secrets, {
    namespace: tokenNamespace,
    fieldSelector: `type=${tokenType}`,
  });
  const enqueue = () => queue.add(onlyKey);
  watchObjects(configMaps, enqueue);
  watchObjects(tokens, enqueue);

  const reconciler: Reconciler = {
    name: 'bootstrap-signer-controller',
    async reconcile(_key, { signal }): Promise<ReconcileResult | void> {
      const configMap = configMaps.lister.get(configMapName, configMapNamespace);
      if (configMap?.data?.['kubeconfig'] === undefined) return;
      const now = clock.now();
      const data = signedData(configMap.data, tokens.lister.list(), now);
      if (data)
        await client
          .for(ConfigMaps)
          .update({ ...configMap, data }, { namespace: configMapNamespace, signal })
          .catch((error: unknown) => {
            // The change that came in between brings the key back.
            if (!isConflict(error)) throw error;
          });
      const next = nextExpiration(tokens.lister.list(), now);
      return next === undefined ? undefined : { requeueAfterMs: next - now };
    },
  };
  return queueController({ context, queue, reconciler, concurrency: 1 });
}
