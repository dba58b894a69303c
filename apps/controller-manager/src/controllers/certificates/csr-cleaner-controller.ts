import { CertificateSigningRequests, type CertificateSigningRequest } from '@tinkernetes/api';
import { ignoreNotFound, isConditionTrue } from '@tinkernetes/apimachinery';
import type { ReconcileResult, Reconciler } from '@tinkernetes/controller';
import type { ControllerContext, RunnableController } from '../../manager/context';
import { queueController } from '../../manager/queue-controller';

const hourMs = 3600_000;

/** Milliseconds until a request is of no use to anybody. Source: certificates/cleaner. */
function untilStale(request: CertificateSigningRequest, now: number): number {
  const conditions = request.status?.conditions ?? [];
  const isDecided = ['Approved', 'Denied', 'Failed'].some((type) => isConditionTrue(conditions, type));
  const created = Date.parse(request.metadata.creationTimestamp ?? '');
  const decided = Math.max(
    created,
    ...conditions.map((c) => Date.parse(c.lastUpdateTime ?? '')).filter((t) => !Number.isNaN(t)),
  );
  return (isDecided ? decided + hourMs : created + 24 * hourMs) - now;
}

/** Deletes old signing requests, answered (1 h) or not (24 h). Watches and deletes CertificateSigningRequests. */
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
      const left = untilStale(request, clock.now());
      if (left > 0) return { requeueAfterMs: left };
      await client.for(CertificateSigningRequests).delete(name, { signal }).catch(ignoreNotFound);
    },
  };
  return queueController({ context, queue, reconciler, concurrency: 1 });
}
