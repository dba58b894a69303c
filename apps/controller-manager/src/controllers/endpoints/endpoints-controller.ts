import { EndpointsResource, Pods, Services, type Endpoints } from '@tinkernetes/api';
import { ignoreNotFound, isAlreadyExists, keyOf, selectorOfMap, splitKey } from '@tinkernetes/apimachinery';
import type { Reconciler } from '@tinkernetes/controller';
import type { ControllerContext, RunnableController } from '../../manager/context';
import { queueController } from '../../manager/queue-controller';
import { isNamespaceTerminating } from '../shared/namespace-terminating';
import { sameStatus } from '../shared/same-status';
import { followServices } from '../shared/service-membership';
import { TriggerTimes, withTriggerTime } from '../shared/trigger-times';
import { subsetsOf } from './subsets';

const overCapacity = 'endpoints.kubernetes.io/over-capacity';
const managedByLabel = 'endpoints.kubernetes.io/managed-by';
const headless = 'service.kubernetes.io/headless';

/** The Endpoints object of each Service with a selector. Watches Services, Pods, Endpoints; writes Endpoints. */
export function startEndpointsController(context: ControllerContext): RunnableController {
  const { client, informers, recorder } = context;
  const queue = context.queues.create('endpoint');
  const services = informers.for(Services);
  const pods = informers.for(Pods);
  const endpoints = informers.for(EndpointsResource);
  const triggers = new TriggerTimes();
  followServices(services, pods, (key) => queue.add(key));
  endpoints.addEventHandler({ deleted: (e) => queue.add(keyOf(e)) });

  const reconciler: Reconciler = {
    name: 'endpoints-controller',
    async reconcile(key, { signal }) {
      const { namespace, name } = splitKey(key);
      const service = services.lister.getByKey(key);
      if (!service) triggers.forget(key);
      const endpointsClient = client.for(EndpointsResource);
      if (!service) {
        if (!endpoints.lister.getByKey(key)) return;
        await endpointsClient.delete(name, { namespace, signal }).catch(ignoreNotFound);
        return;
      }
      const { selector } = service.spec;
      if (!selector || service.spec.type === 'ExternalName' || service.metadata.deletionTimestamp) return;
      const matcher = selectorOfMap(selector);
      const selected = pods.lister.list(namespace).filter((pod) => matcher.matches(pod.metadata.labels));
      const { subsets, truncated } = subsetsOf(service, selected);
      const current = endpoints.lister.getByKey(key);
      const { [overCapacity]: before, ...annotations } = withTriggerTime(
        { metadata: { name, ...current?.metadata } },
        triggers.next(key, service, selected),
      );
      const labels = {
        ...service.metadata.labels,
        [managedByLabel]: 'endpoint-controller',
        ...(service.spec.clusterIP === 'None' ? { [headless]: '' } : {}),
      };
      const wanted: Endpoints = {
        ...current,
        metadata: {
          ...current?.metadata,
          name,
          namespace,
          labels,
          annotations: truncated ? { ...annotations, [overCapacity]: 'truncated' } : annotations,
        },
        subsets,
      };
      if (!current) {
        await endpointsClient.create(wanted, { namespace, signal }).catch((error: unknown) => {
          if (isAlreadyExists(error) || isNamespaceTerminating(error)) return;
          sayFailed(wanted, 'FailedToCreateEndpoint', `create endpoint for service ${key}`, error);
          throw error;
        });
      } else if (
        !sameStatus(current.subsets, subsets) ||
        !sameStatus(current.metadata.labels, labels) ||
        truncated !== (before !== undefined)
      ) {
        await endpointsClient.update(wanted, { namespace, signal }).catch((error: unknown) => {
          sayFailed(current, 'FailedToUpdateEndpoint', `update endpoint ${key}`, error);
          throw error;
        });
      }
    },
  };
  function sayFailed(object: Endpoints, reason: string, what: string, error: unknown): void {
    const subject = { ...object, apiVersion: 'v1', kind: 'Endpoints' };
    recorder.event(subject, 'Warning', reason, `Failed to ${what}: ${(error as Error).message}`);
  }
  return queueController({
    context,
    queue,
    reconciler,
    concurrency: context.flags['concurrent-endpoint-syncs'],
  });
}
