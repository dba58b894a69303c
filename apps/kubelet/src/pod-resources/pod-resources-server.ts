import { status, type sendUnaryData, type ServerUnaryCall } from '@grpc/grpc-js';
import type { Container, Pod } from '@tinkernetes/api';
import type { Logger } from '@tinkernetes/component-base';
import { ReadingServer } from '@tinkernetes/grpc';
import { mkdir, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { NamedDevice } from '../devices/offered-devices';
import { longestSocketPath } from '../devices/plugin-registrar';
import { isSidecar } from '../pods/pod-facts';
import type { PodResourcesSource } from './pod-resources';
import {
  podResourcesService,
  type AllocatableResourcesResponse,
  type ContainerDevices,
  type GetPodResourcesRequest,
  type GetPodResourcesResponse,
  type ListPodResourcesResponse,
  type PodResources,
} from './pod-resources-api';

export interface PodResourcesDeps {
  /** `<root>/pod-resources/kubelet.sock` */
  socket: string;
  sources: Iterable<PodResourcesSource>;
  logger: Logger;
  signal: AbortSignal;
}

/**
 * Serves which devices the containers of the node have, to monitoring agents. No CPUs and memory are told: they are given
 * to nobody exclusively, as with upstream's policy `none`.
 * Source: pkg/kubelet/apis/podresources/server_v1.go;
 * https://kubernetes.io/docs/concepts/extend-kubernetes/compute-storage-net/device-plugins/#monitoring-device-plugin-resources
 */
export async function servePodResources({
  socket,
  sources,
  logger,
  signal,
}: PodResourcesDeps): Promise<void> {
  if (Buffer.byteLength(socket) > longestSocketPath) {
    logger.warn({ socket }, 'pod-resources are not served: the path of the socket is too long');
    return;
  }
  await mkdir(dirname(socket), { recursive: true, mode: 0o750 });
  await rm(socket, { force: true });
  if (signal.aborted) return;
  const server = new ReadingServer();
  server.addService(podResourcesService(), {
    list: (_call: unknown, callback: sendUnaryData<ListPodResourcesResponse>) =>
      callback(null, {
        podResources: [...sources].flatMap(({ pods, devices }) =>
          pods().map((pod) => resourcesOf(pod, devices)),
        ),
      }),
    getAllocatableResources: (_call: unknown, callback: sendUnaryData<AllocatableResourcesResponse>) =>
      callback(null, { devices: allocatable(sources).map(toMessage) }),
    get: (
      { request }: ServerUnaryCall<GetPodResourcesRequest, GetPodResourcesResponse>,
      callback: sendUnaryData<GetPodResourcesResponse>,
    ) => {
      const { podName, podNamespace } = request;
      for (const { pods, devices } of sources) {
        const pod = pods().find(
          ({ metadata }) => metadata.name === podName && metadata.namespace === podNamespace,
        );
        if (pod) return callback(null, { podResources: resourcesOf(pod, devices) });
      }
      callback({ code: status.UNKNOWN, details: `pod ${podName} in namespace ${podNamespace} not found` });
    },
  });
  await server.listen(`unix://${socket}`);
  if (signal.aborted) server.forceShutdown();
  else signal.addEventListener('abort', () => server.forceShutdown(), { once: true });
}

/** Light nodes all offer the devices of their machine: each is told once. */
function allocatable(sources: Iterable<PodResourcesSource>): NamedDevice[] {
  const devices = [...sources].flatMap((source) => source.devices.allocatable());
  return [...new Map(devices.map((device) => [`${device.resource}/${device.id}`, device])).values()];
}

/** Init containers have ended, but for those that go on beside the others. */
function resourcesOf(pod: Pod, devices: PodResourcesSource['devices']): PodResources {
  const running: Container[] = [...(pod.spec.initContainers ?? []).filter(isSidecar), ...pod.spec.containers];
  return {
    name: pod.metadata.name ?? '',
    namespace: pod.metadata.namespace ?? '',
    containers: running.map((container) => ({
      name: container.name,
      devices: devices.devicesOf(pod, container).map(toMessage),
    })),
  };
}

/** One message a device, since each has a topology of its own. */
const toMessage = ({ resource, id, topology }: NamedDevice): ContainerDevices => ({
  resourceName: resource,
  deviceIds: [id],
  ...(topology ? { topology } : {}),
});
