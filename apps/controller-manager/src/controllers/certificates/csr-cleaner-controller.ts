import { CertificateSigningRequests } from '@tinkernetes/api';
import { ignoreNotFound } from '@tinkernetes/apimachinery';
import type { ReconcileResult, Reconciler } from '@tinkernetes/controller';
import type { ControllerContext, RunnableController } from '../../manager/context';
import { queueController } from '../../manager/queue-controller';
import { staleAt } from './stale';

/** Deletes old signing requests. Watches and deletes CertificateSigningRequests. */
export function startCsrCleanerController(context: ControllerContext): RunnableController {
  const { client, clock, informers } = context;
  const queue = context.queues.create('csrcleaner');
  const requests = informers.for(CertificateSigningRequests);
  requests.addEventHandler({
    added: (request) => queue.add(request.metadata.name),
    updated: (_, request) => queue.add(request.metadata.name),
  });
  const reconciler: Reconciler = {
    name: 'certificatesigningrequest-cleaner-controller',
    async reconcile(name, { signal }): Promise<ReconcileResult | void> {
      const request = requests.lister.get(name);
      if (!request) return;
      const left = staleAt(request) - clock.now();
      if (left === Infinity) return;
      if (left > 0) return { requeueAfterMs: left };
      await client.for(CertificateSigningRequests).delete(name, { signal }).catch(ignoreNotFound);
    },
  };
  return queueController({ context, queue, reconciler, concurrency: 1 });
}
