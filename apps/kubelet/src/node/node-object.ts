import type { ContainerImage, Node, NodeCondition, NodeStatus, Taint } from '@tinkernetes/api';
import { formatTime } from '@tinkernetes/component-base';
import { architecture, type Machine } from './machine';
import type { RuntimeOffers } from './runtime-health';

export interface NodeFacts {
  name: string;
  addresses: readonly string[];
  /** Of the kubelet's server. */
  port: number;
  labels: Readonly<Record<string, string>>;
  taints: readonly Taint[];
  machine: Machine;
  /** `containerd://2.1.4` */
  runtimeVersion: string;
  /** IP:PORT of the node's overlay. */
  overlayEndpoint: string | undefined;
}

export const endpointAnnotation = 'vnet.tinkernetes.dev/endpoint';

export function nodeLabels({ name, labels }: NodeFacts): Record<string, string> {
  return {
    'beta.kubernetes.io/arch': architecture(),
    'beta.kubernetes.io/os': 'linux',
    'kubernetes.io/arch': architecture(),
    'kubernetes.io/hostname': name,
    'kubernetes.io/os': 'linux',
    ...labels,
  };
}

export function nodeAnnotations({ overlayEndpoint, addresses }: NodeFacts): Record<string, string> {
  return {
    'alpha.kubernetes.io/provided-node-ip': addresses.join(','),
    'volumes.kubernetes.io/controller-managed-attach-detach': 'true',
    ...(overlayEndpoint ? { [endpointAnnotation]: overlayEndpoint } : {}),
  };
}

/** The Node as it is registered. Source: pkg/kubelet initialNode. */
export function nodeObject(facts: NodeFacts, status: NodeStatus): Node {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: facts.name,
      labels: nodeLabels(facts),
      annotations: nodeAnnotations(facts),
    },
    spec: facts.taints.length > 0 ? { taints: [...facts.taints] } : {},
    status,
  };
}

export interface NodeHealth {
  /** Why the node is not ready; undefined: it is. */
  notReady: string | undefined;
  memoryPressure: boolean;
  diskPressure: boolean;
  pidPressure: boolean;
}

/** What device plugins offer, by resource. */
export interface NodeDevices {
  capacity: Readonly<Record<string, string>>;
  allocatable: Readonly<Record<string, string>>;
}

export function nodeStatus(
  facts: NodeFacts,
  health: NodeHealth,
  {
    previous,
    images,
    devices,
    advertised,
    runtime,
    now,
  }: {
    previous: readonly NodeCondition[];
    images: readonly ContainerImage[];
    devices: NodeDevices;
    /** In the Node's capacity by somebody else's hand. */
    advertised: Readonly<Record<string, string>>;
    runtime: RuntimeOffers;
    now: number;
  },
): NodeStatus {
  return {
    addresses: [
      ...facts.addresses.map((address) => ({ type: 'InternalIP' as const, address })),
      { type: 'Hostname' as const, address: facts.name },
    ],
    allocatable: { ...facts.machine.allocatable, ...advertised, ...devices.allocatable },
    capacity: { ...facts.machine.capacity, ...devices.capacity },
    conditions: nodeConditions(health, previous, now),
    daemonEndpoints: { kubeletEndpoint: { Port: facts.port } },
    images: [...images],
    nodeInfo: { ...facts.machine.info, containerRuntimeVersion: facts.runtimeVersion },
    ...runtime,
  };
}

/** Source: pkg/kubelet/nodestatus/setters.go. */
function nodeConditions(
  health: NodeHealth,
  previous: readonly NodeCondition[],
  now: number,
): NodeCondition[] {
  const pressure = (type: string, bad: boolean, texts: { bad: [string, string]; good: [string, string] }) => {
    const [reason, message] = bad ? texts.bad : texts.good;
    return { type, status: bad ? 'True' : 'False', reason, message };
  };
  const verdicts = [
    pressure('MemoryPressure', health.memoryPressure, {
      bad: ['KubeletHasInsufficientMemory', 'kubelet has insufficient memory available'],
      good: ['KubeletHasSufficientMemory', 'kubelet has sufficient memory available'],
    }),
    pressure('DiskPressure', health.diskPressure, {
      bad: ['KubeletHasDiskPressure', 'kubelet has disk pressure'],
      good: ['KubeletHasNoDiskPressure', 'kubelet has no disk pressure'],
    }),
    pressure('PIDPressure', health.pidPressure, {
      bad: ['KubeletHasInsufficientPID', 'kubelet has insufficient PID available'],
      good: ['KubeletHasSufficientPID', 'kubelet has sufficient PID available'],
    }),
    health.notReady === undefined
      ? { type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'kubelet is posting ready status' }
      : { type: 'Ready', status: 'False', reason: 'KubeletNotReady', message: health.notReady },
  ];
  return verdicts.map((verdict) => {
    const before = previous.find((c) => c.type === verdict.type);
    return {
      ...verdict,
      lastHeartbeatTime: formatTime(now),
      lastTransitionTime:
        before?.status === verdict.status && before.lastTransitionTime
          ? before.lastTransitionTime
          : formatTime(now),
    } as NodeCondition;
  });
}
