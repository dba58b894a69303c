import {
  EndpointSlices,
  EndpointsResource,
  Services,
  type Endpoints,
  type EndpointSlice,
  type Service,
} from '@tinkernetes/api';
import { ignoreNotFound, keyOf } from '@tinkernetes/apimachinery';
import { controllerRefOf, type Reconciler } from '@tinkernetes/controller';
import type { ControllerContext, RunnableController } from '../../manager/context';
import { isNamespaceTerminating } from '../shared/namespace-terminating';
import { queueController } from '../../manager/queue-controller';
import { planSlices, type EndpointGroup } from '../endpointslice/plan';
import { WrittenSlices } from '../endpointslice/written-slices';
import { createSliceMetrics } from '../endpointslice/slice-metrics';
import { createMirrorMetrics } from './mirror-metrics';
import {
  groupsOf,
  maxEndpointsPerSubset,
  mirroredAnnotations,
  shouldMirror,
  skippedOf,
  type Family,
} from './mirror';

const serviceLabel = 'kubernetes.io/service-name';
const managedBy = 'endpointslice.kubernetes.io/managed-by';
const manager = 'endpointslicemirroring-controller.k8s.io';
const index = 'mirroredService';
const prefix = 'endpoint_slice_mirroring_controller';
const families: readonly Family[] = ['IPv4', 'IPv6'];

/**
 * EndpointSlices for Endpoints that were made by hand, for Services without a selector. Watches Endpoints, Services and
 * EndpointSlices; writes EndpointSlices. Source: k8s.io/kubernetes/pkg/controller/endpointslicemirroring.
 */
export function startEndpointSliceMirroringController(context: ControllerContext): RunnableController {
  const { client, clock, informers, metrics, recorder } = context;
  const measured = createSliceMetrics(metrics, { prefix, owner: 'Endpoints', countsUpdates: true });
  const mirrored = createMirrorMetrics(metrics, prefix);
  const queue = context.queues.create('endpoint_slice_mirroring');
  const endpoints = informers.for(EndpointsResource);
  const services = informers.for(Services);
  const slices = informers.for(EndpointSlices);
  slices.addIndex(index, (slice) =>
    slice.metadata.labels?.[managedBy] === manager
      ? [`${slice.metadata.namespace}/${slice.metadata.labels[serviceLabel] ?? ''}`]
      : [],
  );
  const onEndpoints = (object: Endpoints) => {
    if (shouldMirror(object)) queue.add(keyOf(object));
  };
  endpoints.addEventHandler({
    added: onEndpoints,
    updated: (before, after) => {
      if (shouldMirror(before) || shouldMirror(after)) queue.add(keyOf(after));
    },
    deleted: onEndpoints,
  });
  const onService = (service: Service) => queue.add(keyOf(service));
  services.addEventHandler({
    added: onService,
    updated: (before, after) => {
      if (Boolean(before.spec.selector) !== Boolean(after.spec.selector)) onService(after);
    },
    deleted: onService,
  });
  const onSlice = ({ metadata: { labels, namespace } }: EndpointSlice) => {
    if (labels?.[managedBy] === manager) queue.add(`${namespace}/${labels[serviceLabel] ?? ''}`);
  };
  const written = new WrittenSlices();
  slices.addEventHandler({
    updated: (before, slice) => {
      if (written.isChangedByOthers(before, slice)) [before, slice].forEach(onSlice);
    },
    deleted: (slice) => {
      written.forget(slice);
      onSlice(slice);
    },
  });

  const reconciler: Reconciler = {
    name: 'endpointslice-mirroring-controller',
    async reconcile(key, { signal }) {
      const object = endpoints.lister.getByKey(key);
      const service = services.lister.getByKey(key);
      const existing = slices.lister.byIndex(index, key);
      const isWanted = object && service && !service.spec.selector && shouldMirror(object);
      const namespace = key.split('/')[0];
      const slicesClient = client.for(EndpointSlices);
      const startedAt = clock.monotonic();
      if (!isWanted) {
        for (const family of families) measured.forget(`${key}/${family}`);
        await Promise.all(existing.map((slice) => remove(slice, signal)));
        return;
      }
      try {
        for (const family of families) {
          const wanted = groupsOf(object.subsets ?? [], family);
          const present = existing.filter((slice) => slice.addressType === family);
          const plan = planSlices(present, wanted, {
            labels: labelsOf(object),
            annotations: mirroredAnnotations(object),
            maxEndpoints: maxEndpointsPerSubset,
          });
          measured.planned(`${key}/${family}`, { existing: present, wanted, plan });
          await Promise.all([
            ...plan.create.map((group) =>
              slicesClient.create(newSlice(object, group, family), { namespace, signal }),
            ),
            ...plan.update.map(async (slice) =>
              written.note(await slicesClient.update(slice, { namespace, signal })),
            ),
            ...plan.delete.map((slice) => remove(slice, signal)),
          ]);
        }
        const skipped = skippedOf(object.subsets ?? []);
        if (skipped > 0)
          recorder.event(
            object,
            'Warning',
            'TooManyAddressesToMirror',
            `A max of ${maxEndpointsPerSubset} addresses can be mirrored to EndpointSlices per Endpoints subset. ${skipped} addresses were skipped`,
          );
        mirrored.synced((clock.monotonic() - startedAt) / 1000, skipped);
      } catch (error) {
        if (isNamespaceTerminating(error)) return;
        recorder.event(
          object,
          'Warning',
          'FailedToUpdateEndpointSlices',
          `Error updating Endpoint Slices for Endpoints ${key}: ${(error as Error).message}`,
        );
        throw error;
      }
    },
  };

  async function remove({ metadata }: EndpointSlice, signal: AbortSignal): Promise<void> {
    const { name, namespace } = metadata;
    await client.for(EndpointSlices).delete(name, { namespace, signal }).catch(ignoreNotFound);
  }
  return queueController({
    context,
    queue,
    reconciler,
    concurrency: context.flags['mirroring-concurrent-service-endpoint-syncs'],
  });
}

const labelsOf = ({ metadata }: Endpoints): Record<string, string> => ({
  ...metadata.labels,
  [serviceLabel]: metadata.name,
  [managedBy]: manager,
});

const newSlice = (object: Endpoints, group: EndpointGroup, addressType: Family): EndpointSlice => ({
  metadata: {
    name: '',
    generateName: `${object.metadata.name}-`,
    namespace: object.metadata.namespace,
    labels: labelsOf(object),
    annotations: mirroredAnnotations(object),
    ownerReferences: [controllerRefOf(object, EndpointsResource)],
  },
  addressType,
  endpoints: group.endpoints,
  ports: group.ports,
});
