import { Secrets } from '@tinkernetes/api';
import { isConflict, isNotFound } from '@tinkernetes/apimachinery';
import type { ReconcileResult, Reconciler } from '@tinkernetes/controller';
import type { ControllerContext, RunnableController } from '../../manager/context';
import { queueController } from '../../manager/queue-controller';
import { watchObjects } from '../shared/watch-objects';
import { expirationOf, tokenNamespace, tokenType } from './bootstrap-tokens';

/** Deletes bootstrap tokens when they expire. Source: k8s.io/kubernetes/pkg/controller/bootstrap/tokencleaner.go. */
export function startTokenCleaner(context: ControllerContext): RunnableController {
  const { client, clock, informers } = context;
  const queue = context.queues.create('token_cleaner');
  const tokens = informers.for(Secrets, { namespace: tokenNamespace, fieldSelector: `type=${tokenType}` });
  watchObjects(tokens, (key) => queue.add(key));
  const reconciler: Reconciler = {
    name: 'token-cleaner-controller',
    async reconcile(key, { signal }): Promise<ReconcileResult | void> {
      const secret = tokens.lister.getByKey(key);
      const expiration = secret && expirationOf(secret);
      if (!secret || expiration === undefined) return;
      const left = expiration - clock.now();
      if (left > 0) return { requeueAfterMs: left };
      const { name, namespace, uid } = secret.metadata;
      await client
        .for(Secrets)
        .delete(name, { namespace, preconditions: { uid }, signal })
        .catch((error: unknown) => {
          if (!isNotFound(error) && !isConflict(error)) throw error;
        });
    },
  };
  return queueController({ context, queue, reconciler, concurrency: 1 });
}
