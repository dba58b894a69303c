import {
  EndpointSlices,
  Nodes,
  Pods,
  Services,
  type Endpoint,
  type EndpointHints,
  type EndpointSlice,
  type Pod,
  type Service,
} from '@tinkernetes/api';
import { ignoreNotFound, keyOf, selectorOfMap } from '@tinkernetes/apimachinery';
import type { Reconciler } from '@tinkernetes/controller';
import type { ControllerContext, RunnableController } from '../../manager/context';
import { isNamespaceTerminating } from '../shared/namespace-terminating';
import { queueController } from '../../manager/queue-controller';
import { followServices } from '../shared/service-membership';
import { TriggerTimes, withTriggerTime } from '../shared/trigger-times';
import { WrittenSlices } from './written-slices';
import { planSlices, type EndpointGroup } from './plan';
import { isEndpointPod, podToEndpoint, resolvePorts } from './pod-endpoints';
import { createSliceMetrics } from './slice-metrics';
import { automaticHints, hintsByPreference, topologyOf, wantsAutomaticHints } from './topology-hints';

const labels = {
  service: 'kubernetes.io/service-name',
  managedBy: 'endpointslice.kubernetes.io/managed-by',
  headless: 'service.kubernetes.io/headless',
} as const;
const manager = 'endpointslice-controller.k8s.io';

/** The EndpointSlices of each Service with a selector. Watches Services, Pods, Nodes, EndpointSlices. */
export function startEndpointSliceController(context: ControllerContext): RunnableController {
  const { client, informers, metrics, recorder } = context;
  const prefix = 'endpoint_slice_controller';
  const measured = createSliceMetrics(metrics, { prefix, owner: 'Service' });
  const syncs = metrics.counter(`${prefix}_syncs`, 'Number of EndpointSlice syncs', ['result']);
  const changed = metrics.histogram(
    `${prefix}_endpointslices_changed_per_sync`,
    'Number of EndpointSlices changed on each Service sync',
    {
      labelNames: ['topology', 'traffic_distribution'],
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    },
  );
  const queue = context.queues.create('endpoint_slice');
  const services = informers.for(Services);
  metrics
    .gauge(
      `${prefix}_services_count_by_traffic_distribution`,
      'Number of Services using some specific trafficDistribution',
      ['traffic_distribution'],
    )
    .collectEach(() => {
      const counts = new Map<string, number>();
      for (const { spec } of services.lister.list())
        if (spec.trafficDistribution)
          counts.set(spec.trafficDistribution, (counts.get(spec.trafficDistribution) ?? 0) + 1);
      return [...counts].map(([traffic_distribution, count]) => [{ traffic_distribution }, count] as const);
    });
  const pods = informers.for(Pods);
  const nodes = informers.for(Nodes);
  const slices = informers.for(EndpointSlices);
  slices.addIndex('service', (slice) => [
    `${slice.metadata.namespace}/${slice.metadata.labels?.[labels.service] ?? ''}`,
  ]);

  followServices(services, pods, (key) => queue.add(key));
  const onSlice = (slice: EndpointSlice) => {
    const service = slice.metadata.labels?.[labels.service];
    if (service && slice.metadata.labels?.[labels.managedBy] === manager)
      queue.add(`${slice.metadata.namespace}/${service}`);
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
  const onNode = () => {
    for (const service of services.lister.list()) if (wantsAutomaticHints(service)) queue.add(keyOf(service));
  };
  nodes.addEventHandler({
    added: (_, isInInitialList) => {
      if (!isInInitialList) onNode();
    },
    updated: (before, node) => {
      if (topologyOf(before) !== topologyOf(node)) onNode();
    },
    deleted: onNode,
  });
  const triggers = new TriggerTimes();
  /** What was said of each Service's hints last. */
  const said = new Map<string, string>();

  const reconciler: Reconciler = {
    name: 'endpointslice-controller',
    async reconcile(key, { signal }) {
      const service = services.lister.getByKey(key);
      // The garbage collector removes the slices of a Service that is gone.
      if (!service) {
        said.delete(key);
        measured.forget(key);
        triggers.forget(key);
      }
      if (
        !service?.spec.selector ||
        service.spec.type === 'ExternalName' ||
        service.metadata.deletionTimestamp
      )
        return;
      const namespace = service.metadata.namespace ?? '';
      const existing = slices.lister
        .byIndex('service', key)
        .filter((s) => s.metadata.labels?.[labels.managedBy] === manager);
      const selected = podsOf(service);
      const members = selected.filter((pod) => isEndpointPod(pod, { includeTerminating: true }));
      const wanted = withHints(service, groupsOf(service, members));
      const time = triggers.next(key, service, selected);
      const plan = planSlices(existing, wanted, { labels: sliceLabels(service) });
      measured.planned(key, { existing, wanted, plan });
      const slicesClient = client.for(EndpointSlices);
      const trace = client.traceOf(service);
      try {
        await Promise.all([
          ...plan.create.map((group) =>
            slicesClient.create(timed(newSlice(service, group), time), { namespace, signal, trace }),
          ),
          ...plan.update.map(async (slice) =>
            written.note(await slicesClient.update(timed(slice, time), { namespace, signal, trace })),
          ),
          ...plan.delete.map((slice) =>
            slicesClient.delete(slice.metadata.name, { namespace, signal }).catch(ignoreNotFound),
          ),
        ]);
        syncs.inc({ result: 'success' });
        changed.observe(plan.create.length + plan.update.length + plan.delete.length, {
          topology: wantsAutomaticHints(service) ? 'Auto' : 'Disabled',
          traffic_distribution: service.spec.trafficDistribution ?? '',
        });
      } catch (error) {
        if (isNamespaceTerminating(error)) return;
        syncs.inc({ result: 'error' });
        recorder.event(
          service,
          'Warning',
          'FailedToUpdateEndpointSlices',
          `Error updating Endpoint Slices for Service ${key}: ${(error as Error).message}`,
        );
        throw error;
      }
    },
  };

  const podsOf = (service: Service): Pod[] => {
    const selector = selectorOfMap(service.spec.selector);
    return pods.lister
      .list(service.metadata.namespace)
      .filter((pod) => selector.matches(pod.metadata.labels));
  };
  const groupsOf = (service: Service, members: readonly Pod[]): EndpointGroup[] => {
    const groups = new Map<string, EndpointGroup>();
    for (const pod of members) {
      const ports = resolvePorts(pod, service);
      const group = groups.get(JSON.stringify(ports)) ?? { ports, endpoints: [] };
      group.endpoints.push(podToEndpoint(pod, service, nodes.lister.get(pod.spec.nodeName ?? '')));
      groups.set(JSON.stringify(ports), group);
    }
    return groups.size > 0 ? [...groups.values()] : [{ ports: [], endpoints: [] }];
  };
  const withHints = (service: Service, groups: readonly EndpointGroup[]): EndpointGroup[] => {
    if (!wantsAutomaticHints(service)) {
      if (said.delete(keyOf(service))) sayHints(service, 'Topology Aware Hints has been disabled', false);
      return groups.map(({ ports, endpoints }) => ({
        ports,
        endpoints: endpoints.map((endpoint) => hinted(endpoint, hintsByPreference(service, endpoint))),
      }));
    }
    const verdict = automaticHints(
      groups.flatMap(({ endpoints }) => endpoints),
      nodes.lister.list(),
    );
    const text = verdict.enabled ? 'Topology Aware Hints has been enabled' : verdict.reason;
    if (said.get(keyOf(service)) !== text) sayHints(service, text, verdict.enabled);
    said.set(keyOf(service), text);
    if (!verdict.enabled) return [...groups];
    return groups.map(({ ports, endpoints }) => ({
      ports,
      endpoints: endpoints.map((endpoint) => hinted(endpoint, verdict.hints.get(endpoint))),
    }));
  };
  const sayHints = (service: Service, text: string, isEnabled: boolean): void => {
    const [type, reason] = isEnabled
      ? (['Normal', 'TopologyAwareHintsEnabled'] as const)
      : (['Warning', 'TopologyAwareHintsDisabled'] as const);
    recorder.event(service, type, reason, `${text}, addressType: IPv4`);
  };
  return queueController({
    context,
    queue,
    reconciler,
    concurrency: context.flags['concurrent-service-endpoint-syncs'],
  });
}

const hinted = (endpoint: Endpoint, hints: EndpointHints | undefined): Endpoint =>
  hints ? { ...endpoint, hints } : endpoint;

function sliceLabels(service: Service): Record<string, string> {
  const { [labels.headless]: _, ...own } = service.metadata.labels ?? {};
  return {
    ...own,
    [labels.service]: service.metadata.name,
    [labels.managedBy]: manager,
    ...(service.spec.clusterIP === 'None' ? { [labels.headless]: '' } : {}),
  };
}

function timed(slice: EndpointSlice, time: string | undefined): EndpointSlice {
  return { ...slice, metadata: { ...slice.metadata, annotations: withTriggerTime(slice, time) } };
}

function newSlice(service: Service, group: EndpointGroup): EndpointSlice {
  const { name, namespace, uid } = service.metadata;
  return {
    metadata: {
      name: '',
      generateName: `${name}-`,
      namespace,
      labels: sliceLabels(service),
      ownerReferences: [
        {
          apiVersion: 'v1',
          kind: 'Service',
          name,
          uid: uid ?? '',
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    },
    addressType: 'IPv4',
    endpoints: group.endpoints,
    ports: group.ports,
  };
}
