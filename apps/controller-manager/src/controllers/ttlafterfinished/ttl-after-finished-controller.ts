import { Jobs, type Job } from '@tinkernetes/api';
import { ignoreNotFound, keyOf } from '@tinkernetes/apimachinery';
import { exponentialBuckets } from '@tinkernetes/component-base';
import type { ReconcileResult, Reconciler } from '@tinkernetes/controller';
import type { ControllerContext, RunnableController } from '../../manager/context';
import { queueController } from '../../manager/queue-controller';
import { isJobFinished } from '../job/conditions';

/**
 * Milliseconds until a finished Job may be deleted (0 or less: now); undefined: never, not finished, or nobody can say
 * when it finished. Source: ttlafterfinished timeLeft.
 */
export function untilExpiry(job: Job, now: number): number | undefined {
  const { ttlSecondsAfterFinished: ttl } = job.spec;
  const end = isJobFinished(job);
  if (ttl === undefined || !end || job.metadata.deletionTimestamp) return undefined;
  const finished = job.status?.conditions?.find((c) => c.type === end)?.lastTransitionTime;
  return finished === undefined ? undefined : Date.parse(finished) + ttl * 1000 - now;
}

/**
 * Deletes Jobs some time after they finished. Watches and deletes Jobs.
 * Source: k8s.io/kubernetes/pkg/controller/ttlafterfinished.
 */
export function startTtlAfterFinishedController(context: ControllerContext): RunnableController {
  const { client, clock, informers, metrics } = context;
  const lateness = metrics.histogram(
    'ttl_after_finished_controller_job_deletion_duration_seconds',
    'The time it took to delete the job since it became eligible for deletion',
    { buckets: exponentialBuckets(0.1, 2, 14) },
  );
  const queue = context.queues.create('ttl_jobs_to_delete');
  const jobs = informers.for(Jobs);
  const enqueue = (job: Job) => {
    if (untilExpiry(job, clock.now()) !== undefined) queue.add(keyOf(job));
  };
  jobs.addEventHandler({ added: enqueue, updated: (_, job) => enqueue(job) });
  const reconciler: Reconciler = {
    name: 'ttl-after-finished-controller',
    async reconcile(key, { signal }): Promise<ReconcileResult | void> {
      const cached = jobs.lister.getByKey(key);
      const left = cached && untilExpiry(cached, clock.now());
      if (!cached || left === undefined) return;
      if (left > 0) return { requeueAfterMs: left };
      // The time to live may just have been made longer: the stored Job decides.
      const { name, namespace } = cached.metadata;
      const job = await client.for(Jobs).get(name, { namespace, signal }).catch(ignoreNotFound);
      const stillLeft = job && untilExpiry(job, clock.now());
      if (!job || stillLeft === undefined) return;
      if (stillLeft > 0) return { requeueAfterMs: stillLeft };
      const preconditions = { uid: job.metadata.uid };
      await client
        .for(Jobs)
        .delete(name, { namespace, signal, propagationPolicy: 'Foreground', preconditions })
        .catch(ignoreNotFound);
      lateness.observe(-stillLeft / 1000);
    },
  };
  return queueController({
    context,
    queue,
    reconciler,
    concurrency: context.flags['concurrent-ttl-after-finished-syncs'],
  });
}
