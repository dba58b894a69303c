import { grpcServices } from '@tinkernetes/grpc';
import { descriptor } from './generated/descriptor';

/*
 * The messages of the device plugin contract as they come out of the codec: every field present.
 * Source: k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1.
 */

export const devicePluginVersion = 'v1beta1';

export interface DevicePluginOptions {
  preStartRequired: boolean;
  getPreferredAllocationAvailable: boolean;
}
export interface RegisterRequest {
  version: string;
  /** Name of the plugin's socket, beside the kubelet's. */
  endpoint: string;
  resourceName: string;
  options: DevicePluginOptions | null;
}
export interface TopologyInfo {
  nodes: Array<{ ID: number }>;
}
export interface Device {
  ID: string;
  health: string;
  topology: TopologyInfo | null;
}
export interface ListAndWatchResponse {
  devices: Device[];
}
export interface AllocateRequest {
  containerRequests: Array<{ devicesIds: string[] }>;
}
/** What a container needs to use its devices. */
export interface ContainerAllocateResponse {
  envs: Record<string, string>;
  mounts: Array<{ containerPath: string; hostPath: string; readOnly: boolean }>;
  devices: Array<{ containerPath: string; hostPath: string; permissions: string }>;
  annotations: Record<string, string>;
  cdiDevices: Array<{ name: string }>;
}
export interface AllocateResponse {
  containerResponses: ContainerAllocateResponse[];
}
export interface PreferredAllocationRequest {
  containerRequests: Array<{
    availableDeviceIDs: string[];
    mustIncludeDeviceIDs: string[];
    allocationSize: number;
  }>;
}
export interface PreferredAllocationResponse {
  containerResponses: Array<{ deviceIDs: string[] }>;
}

const services = grpcServices(descriptor);

/** grpc-js's definitions, keyed by the camelCase method name. */
export const registrationService = () => services('v1beta1.Registration');
export const devicePluginService = () => services('v1beta1.DevicePlugin');
