import type { Clock, StepId, StepSpan, StepTracer } from '@tinkernetes/component-base';
import {
  CriError,
  type ContainerFilter,
  type CriCall,
  type PodSandboxConfig,
  type PodSandboxFilter,
  type RuntimeHandlers,
} from '@tinkernetes/cri';
import { nanos } from '../containers/container';
import type { PodNetwork } from '../containers/pod-network';
import type { RuntimeState } from '../containers/runtime-state';
import { containerEvents } from './events';
import { execSync } from './exec-sync';
import { metricDescriptors, type PodMetrics } from './pod-metrics';
import { matchesLabels } from './selectors';
import type { Stats } from './stats';
import type { StreamingServer } from './streaming-server';
import { containerStatus, containerView, sandboxStatus, sandboxView } from './views';
import { runtimeName, runtimeVersion } from './version';

export interface RuntimeServiceOptions {
  state: RuntimeState;
  podNetwork: PodNetwork;
  streaming: StreamingServer;
  stats: Stats;
  metrics: PodMetrics;
  clock: Clock;
  tracer: StepTracer;
  nodeName: string;
}

/** runtime.v1.RuntimeService over the node's state. */
export function runtimeService(options: RuntimeServiceOptions): RuntimeHandlers {
  const { state, podNetwork, streaming, stats, metrics, clock, tracer, nodeName } = options;

  const traced = <T>(
    id: StepId,
    call: CriCall,
    config: PodSandboxConfig | null | undefined,
    work: (span: StepSpan) => Promise<T> | T,
  ): Promise<T> => {
    const metadata = config?.metadata;
    const object = metadata && {
      kind: 'Pod',
      namespace: metadata.namespace,
      name: metadata.name,
      uid: metadata.uid,
    };
    return tracer.step(id, { parent: call.traceParent, node: nodeName, object: object ?? undefined }, work);
  };

  const sandboxes = (filter: PodSandboxFilter | null) =>
    [...state.sandboxesFor(filter?.labelSelector)]
      .filter(
        (s) =>
          !filter ||
          ((filter.id === '' || s.id.startsWith(filter.id)) &&
            (!filter.state || s.state === filter.state.state) &&
            matchesLabels(s.config.labels, filter.labelSelector)),
      )
      .map(sandboxView);

  const containers = (filter: ContainerFilter | null) =>
    [...state.containersFor(filter?.labelSelector)]
      .filter(
        ({ record }) =>
          !filter ||
          ((filter.id === '' || record.id.startsWith(filter.id)) &&
            (!filter.state || record.state === filter.state.state) &&
            (filter.podSandboxId === '' || record.sandboxId.startsWith(filter.podSandboxId)) &&
            matchesLabels(record.config.labels, filter.labelSelector)),
      )
      .map(containerView);

  return {
    version: () => ({ version: '0.1.0', runtimeName, runtimeVersion, runtimeApiVersion: 'v1' }),

    status: () => {
      const reason = podNetwork.notReady();
      return {
        status: {
          conditions: [
            { type: 'RuntimeReady', status: true },
            reason === undefined
              ? { type: 'NetworkReady', status: true }
              : { type: 'NetworkReady', status: false, reason: 'NetworkPluginNotReady', message: reason },
          ],
        },
        runtimeHandlers: [
          { name: '', features: { recursiveReadOnlyMounts: true } },
          { name: 'mock', features: { recursiveReadOnlyMounts: true } },
        ],
        features: { supplementalGroupsPolicy: true },
      };
    },

    updateRuntimeConfig: async ({ runtimeConfig }) => {
      await podNetwork.usePodCidr(runtimeConfig?.networkConfig?.podCidr ?? '');
      return {};
    },

    runtimeConfig: () => ({ linux: { cgroupDriver: 'CGROUPFS' } }),

    runPodSandbox: ({ config, runtimeHandler }, call) =>
      traced('runtime.sandbox', call, config, async (span) => {
        if (!config) throw new CriError('INVALID_ARGUMENT', 'sandbox config is missing');
        const podSandboxId = await state.runSandbox(config, runtimeHandler, span.traceParent);
        span.set({ 'sandbox.id': podSandboxId, 'sandbox.ip': state.sandbox(podSandboxId).ips[0] ?? '' });
        return { podSandboxId };
      }),

    stopPodSandbox: async ({ podSandboxId }) => {
      if (state.sandboxes.has(podSandboxId)) await state.stopSandbox(podSandboxId);
      return {};
    },

    removePodSandbox: async ({ podSandboxId }) => {
      await state.removeSandbox(podSandboxId);
      return {};
    },

    podSandboxStatus: ({ podSandboxId, verbose }) => {
      const record = state.sandbox(podSandboxId);
      return {
        status: sandboxStatus(record),
        containersStatuses: state.containersOf(record.id).map(containerStatus),
        timestamp: nanos(clock),
        info: verbose ? { info: JSON.stringify({ netns: record.netns }) } : {},
      };
    },

    listPodSandbox: ({ filter }) => ({ items: sandboxes(filter) }),

    createContainer: ({ podSandboxId, config, sandboxConfig }, call) =>
      traced('runtime.create', call, sandboxConfig, (span) => {
        if (!config) throw new CriError('INVALID_ARGUMENT', 'container config is missing');
        const containerId = state.createContainer(podSandboxId, config);
        span.set({ 'container.id': containerId, 'container.name': config.metadata?.name ?? '' });
        return { containerId };
      }),

    startContainer: ({ containerId }, call) => {
      const container = state.container(containerId);
      return traced('runtime.start', call, container.sandbox.config, async (span) => {
        span.set({
          'container.id': container.record.id,
          'container.name': container.record.config.metadata?.name ?? '',
        });
        await container.start();
        return {};
      });
    },

    stopContainer: async ({ containerId, timeout }) => {
      await state.containers.get(containerId)?.stop(timeout);
      return {};
    },

    removeContainer: async ({ containerId }) => {
      await state.removeContainer(containerId);
      return {};
    },

    listContainers: ({ filter }) => ({ containers: containers(filter) }),

    containerStatus: ({ containerId, verbose }) => {
      const container = state.container(containerId);
      const pid = container.processes[0]?.pid ?? 0;
      return {
        status: containerStatus(container),
        info: verbose ? { info: JSON.stringify({ pid, sandboxID: container.record.sandboxId }) } : {},
      };
    },

    updateContainerResources: ({ containerId, linux }) => {
      const { record } = state.container(containerId);
      if (linux)
        record.config.linux = {
          securityContext: record.config.linux?.securityContext ?? null,
          resources: { ...record.config.linux?.resources, ...linux },
        };
      state.saveContainer(record);
      return {};
    },

    updatePodSandboxResources: () => ({}),

    reopenContainerLog: async ({ containerId }) => {
      await state.container(containerId).reopenLog();
      return {};
    },

    execSync: (request) => execSync(state, clock, request),
    exec: (request) => streaming.exec(request),
    attach: (request) => streaming.attach(request),
    portForward: (request) => streaming.portForward(request),

    getContainerEvents: (_request, { signal }) => containerEvents(state, signal),

    containerStats: ({ containerId }) => ({ stats: stats.container(state.container(containerId)) }),
    listContainerStats: ({ filter }) => ({ stats: stats.containers(filter) }),
    podSandboxStats: ({ podSandboxId }) => ({ stats: stats.sandbox(state.sandbox(podSandboxId)) }),
    listPodSandboxStats: ({ filter }) => ({ stats: stats.sandboxes(filter) }),
    listMetricDescriptors: () => ({ descriptors: metricDescriptors }),
    listPodSandboxMetrics: () => ({ podMetrics: metrics.list() }),

    async *streamContainers({ filter }) {
      yield { containers: containers(filter) };
    },
    async *streamPodSandboxes({ filter }) {
      yield { podSandboxes: sandboxes(filter) };
    },
    async *streamContainerStats({ filter }) {
      yield { containerStats: stats.containers(filter) };
    },
    async *streamPodSandboxStats({ filter }) {
      yield { podSandboxStats: stats.sandboxes(filter) };
    },
    async *streamPodSandboxMetrics() {
      yield { podSandboxMetrics: metrics.list() };
    },

    checkpointContainer: () => {
      throw new CriError('UNIMPLEMENTED', 'checkpoints of emulated containers are not supported');
    },
  };
}
