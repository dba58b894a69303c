import { ConfigMaps, Secrets } from '@tinkernetes/api';
import { isConflict } from '@tinkernetes/apimachinery';
import type { ReconcileResult, Reconciler } from '@tinkernetes/controller';
import type { ControllerContext, RunnableController } from '../../manager/context';
import { queueController } from '../../manager/queue-controller';
import { watchObjects } from '../shared/watch-objects';
import {
  detachedSignature,
  expirationOf,
  signingTokenOf,
  tokenNamespace,
  tokenType,
} from './bootstrap-tokens';

const configMapName = 'cluster-info';
const configMapNamespace = 'kube-public';
const signaturePrefix = 'jws-kubeconfig-';
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
      const kubeconfig = configMap?.data?.['kubeconfig'];
      if (!configMap || kubeconfig === undefined) return;
      const now = clock.now();
      const signatures = tokens.lister.list().flatMap((secret) => {
        const token = signingTokenOf(secret, now);
        return token ? [[signaturePrefix + token.id, detachedSignature(kubeconfig, token)] as const] : [];
      });
      const others = Object.entries(configMap.data ?? {}).filter(([key]) => !key.startsWith(signaturePrefix));
      const data = Object.fromEntries([...others, ...signatures]);
      if (!isSame(configMap.data ?? {}, data))
        await client
          .for(ConfigMaps)
          .update({ ...configMap, data }, { namespace: configMapNamespace, signal })
          .catch((error: unknown) => {
            // The change that came in between brings the key back.
            if (!isConflict(error)) throw error;
          });
      const expirations = tokens.lister.list().flatMap((secret) => expirationOf(secret) ?? []);
      const next = Math.min(...expirations.filter((time) => time > now));
      return Number.isFinite(next) ? { requeueAfterMs: next - now } : undefined;
    },
  };
  return queueController({ context, queue, reconciler, concurrency: 1 });
}

function isSame(a: Record<string, string>, b: Record<string, string>): boolean {
  const keys = Object.keys(b);
  return Object.keys(a).length === keys.length && keys.every((key) => a[key] === b[key]);
}
