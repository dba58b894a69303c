import { grpcServices } from '@tinkernetes/grpc';
import type { TopologyInfo } from '../devices/device-plugin-api';
import { descriptor } from './generated/descriptor';

/*
 * The messages of the pod-resources contract.
 * Source: k8s.io/kubelet/pkg/apis/podresources/v1.
 */

export interface ContainerDevices {
  resourceName: string;
  deviceIds: string[];
  topology?: TopologyInfo;
}
export interface ContainerResources {
  name: string;
  devices: ContainerDevices[];
}
export interface PodResources {
  name: string;
  namespace: string;
  containers: ContainerResources[];
}
export interface ListPodResourcesResponse {
  podResources: PodResources[];
}
export interface AllocatableResourcesResponse {
  devices: ContainerDevices[];
}
export interface GetPodResourcesRequest {
  podName: string;
  podNamespace: string;
}
export interface GetPodResourcesResponse {
  podResources: PodResources;
}

const services = grpcServices(descriptor);

/** grpc-js's definitions, keyed by the camelCase method name. */
export const podResourcesService = () => services('v1.PodResourcesLister');
