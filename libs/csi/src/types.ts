/*
 * The messages of the Container Storage Interface that this project uses, as they come out of the codec: every scalar
 * present, messages null where absent, int64 as number, enums by name. Source: container-storage-interface/spec, v1.
 */

export interface PluginInfo {
  name: string;
  vendorVersion: string;
}
export type PluginService = 'CONTROLLER_SERVICE' | 'VOLUME_ACCESSIBILITY_CONSTRAINTS';
export interface PluginCapability {
  service?: { type: PluginService } | null;
  volumeExpansion?: { type: 'ONLINE' | 'OFFLINE' } | null;
}

export type AccessMode =
  | 'UNKNOWN'
  | 'SINGLE_NODE_WRITER'
  | 'SINGLE_NODE_READER_ONLY'
  | 'MULTI_NODE_READER_ONLY'
  | 'MULTI_NODE_SINGLE_WRITER'
  | 'MULTI_NODE_MULTI_WRITER'
  | 'SINGLE_NODE_SINGLE_WRITER'
  | 'SINGLE_NODE_MULTI_WRITER';
export interface VolumeCapability {
  block?: object | null;
  mount?: { fsType?: string; mountFlags?: string[]; volumeMountGroup?: string } | null;
  accessMode?: { mode: AccessMode } | null;
}
export interface CapacityRange {
  requiredBytes?: number;
  limitBytes?: number;
}
export interface Topology {
  segments: Record<string, string>;
}
export interface Volume {
  capacityBytes?: number;
  volumeId: string;
  volumeContext?: Record<string, string>;
  accessibleTopology?: Topology[];
}
type Secrets = Record<string, string>;

export interface CreateVolumeRequest {
  name: string;
  capacityRange?: CapacityRange | null;
  volumeCapabilities?: VolumeCapability[];
  parameters?: Record<string, string>;
  secrets?: Secrets;
  accessibilityRequirements?: { requisite?: Topology[]; preferred?: Topology[] } | null;
  mutableParameters?: Record<string, string>;
}
export interface ControllerPublishRequest {
  volumeId: string;
  nodeId: string;
  volumeCapability?: VolumeCapability | null;
  readonly?: boolean;
  secrets?: Secrets;
  volumeContext?: Record<string, string>;
}
export interface ControllerExpandRequest {
  volumeId: string;
  capacityRange?: CapacityRange | null;
  volumeCapability?: VolumeCapability | null;
  secrets?: Secrets;
}
export type ControllerCapability =
  | 'CREATE_DELETE_VOLUME'
  | 'PUBLISH_UNPUBLISH_VOLUME'
  | 'LIST_VOLUMES'
  | 'GET_CAPACITY'
  | 'EXPAND_VOLUME'
  | 'MODIFY_VOLUME';

export interface NodeStageRequest {
  volumeId: string;
  publishContext?: Record<string, string>;
  stagingTargetPath: string;
  volumeCapability?: VolumeCapability | null;
  secrets?: Secrets;
  volumeContext?: Record<string, string>;
}
export interface NodePublishRequest extends NodeStageRequest {
  targetPath: string;
  readonly?: boolean;
}
export interface NodeExpandRequest {
  volumeId: string;
  volumePath: string;
  capacityRange?: CapacityRange | null;
  stagingTargetPath?: string;
  volumeCapability?: VolumeCapability | null;
}
export type NodeCapability =
  'STAGE_UNSTAGE_VOLUME' | 'GET_VOLUME_STATS' | 'EXPAND_VOLUME' | 'VOLUME_MOUNT_GROUP';
export interface VolumeUsage {
  available: number;
  total: number;
  used: number;
  unit: 'UNKNOWN' | 'BYTES' | 'INODES';
}
export interface NodeInfo {
  nodeId: string;
  maxVolumesPerNode?: number;
  accessibleTopology?: Topology | null;
}

/** Requests and answers of a service, by method. */
export interface IdentityMethods {
  getPluginInfo: [request: object, answer: PluginInfo];
  getPluginCapabilities: [request: object, answer: { capabilities: PluginCapability[] }];
  probe: [request: object, answer: { ready?: { value: boolean } | null }];
}
export interface ControllerMethods {
  createVolume: [request: CreateVolumeRequest, answer: { volume?: Volume | null }];
  deleteVolume: [request: { volumeId: string; secrets?: Secrets }, answer: object];
  controllerPublishVolume: [
    request: ControllerPublishRequest,
    answer: { publishContext?: Record<string, string> },
  ];
  controllerUnpublishVolume: [
    request: { volumeId: string; nodeId: string; secrets?: Secrets },
    answer: object,
  ];
  controllerExpandVolume: [
    request: ControllerExpandRequest,
    answer: { capacityBytes: number; nodeExpansionRequired: boolean },
  ];
  controllerModifyVolume: [
    request: { volumeId: string; secrets?: Secrets; mutableParameters?: Record<string, string> },
    answer: object,
  ];
  controllerGetCapabilities: [
    request: object,
    answer: { capabilities: { rpc?: { type: ControllerCapability } | null }[] },
  ];
}
export interface NodeMethods {
  nodeStageVolume: [request: NodeStageRequest, answer: object];
  nodeUnstageVolume: [request: { volumeId: string; stagingTargetPath: string }, answer: object];
  nodePublishVolume: [request: NodePublishRequest, answer: object];
  nodeUnpublishVolume: [request: { volumeId: string; targetPath: string }, answer: object];
  nodeGetVolumeStats: [
    request: { volumeId: string; volumePath: string; stagingTargetPath?: string },
    answer: { usage: VolumeUsage[] },
  ];
  nodeExpandVolume: [request: NodeExpandRequest, answer: { capacityBytes: number }];
  nodeGetCapabilities: [
    request: object,
    answer: { capabilities: { rpc?: { type: NodeCapability } | null }[] },
  ];
  nodeGetInfo: [request: object, answer: NodeInfo];
}
/** How a plugin makes itself known to the kubelet. Source: k8s.io/kubelet/pkg/apis/pluginregistration/v1. */
export interface RegistrationMethods {
  getInfo: [
    request: object,
    answer: { type: string; name: string; endpoint: string; supportedVersions: string[] },
  ];
  notifyRegistrationStatus: [request: { pluginRegistered: boolean; error?: string }, answer: object];
}

export interface Services {
  identity: IdentityMethods;
  controller: ControllerMethods;
  node: NodeMethods;
  registration: RegistrationMethods;
}
export type ServiceName = keyof Services;

/** A service as its methods: what a driver implements and what a client offers. */
export type Service<S extends ServiceName> = {
  readonly [M in keyof Services[S]]: Services[S][M] extends [infer Request, infer Answer]
    ? (request: Request) => Promise<Answer>
    : never;
};
