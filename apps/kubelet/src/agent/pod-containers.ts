import type { Service } from '@tinkernetes/api';
import type { DeviceManager } from '../devices/device-manager';
import { ImageManager } from '../images/image-manager';
import { PullRecords } from '../images/pull-records';
import { createPodInputs } from '../pods/pod-inputs';
import type { ProbeManager } from '../prober/probe-manager';
import { ContainerKiller } from '../runtime/container-killer';
import { ContainerResizer } from '../runtime/container-resizer';
import { ContainerStarter } from '../runtime/container-starter';
import { LogRotator } from '../runtime/log-rotator';
import { RuntimeManager } from '../runtime/runtime-manager';
import { probeUserAgent } from '../version';
import type { AgentContext } from './agent-context';
import type { PodStorage } from './pod-storage';

/** What is done to the containers of Pods. */
export interface PodContainers {
  readonly runtimes: RuntimeManager;
  readonly resizer: ContainerResizer;
  readonly logs: LogRotator;
}

export interface PodContainersParts {
  storage: PodStorage;
  probes: ProbeManager;
  devices: DeviceManager;
  services(): readonly Service[];
}

export function createPodContainers(
  agent: AgentContext,
  { storage, probes, devices, services }: PodContainersParts,
): PodContainers {
  const { options, context, shared, events, directories, node } = agent;
  const { clock, random, logger, tracer } = context;
  const { runtime, images, dialer, cache } = shared;
  const { nodeName, nodeIPs: hostIPs, ownerLabel, podLogsDir } = options;
  const { memoryBytes } = shared.facts.machine;
  const hooks = { runtime, dialer, clock, userAgent: probeUserAgent };
  const killer = new ContainerKiller({ ...hooks, cache, events, logger });
  const resizer = new ContainerResizer(runtime, memoryBytes);
  const { clusterDNS, clusterDomain, resolvConf } = options;
  const inputs = createPodInputs({
    objects: storage.objects,
    volumes: storage.volumes,
    devices,
    directories,
    events,
    random,
    dns: { clusterDNS, clusterDomain, resolvConf },
    podLogsDir,
    ownerLabel,
    hostIPs,
    node,
    services,
  });
  const imageManager = new ImageManager({
    images,
    events,
    clock,
    records: new PullRecords(options.rootDir, logger),
    serializePulls: options.serializeImagePulls,
  });
  const starter = new ContainerStarter({
    ...hooks,
    images: imageManager,
    cache,
    killer,
    resizer,
    inputs,
    events,
    logger,
    tracer,
    nodeName,
    memoryCapacity: memoryBytes,
    maxCrashBackOffMs: options.maxCrashBackOffMs,
  });
  const runtimes = new RuntimeManager({
    runtime,
    starter,
    images: imageManager,
    killer,
    resizer,
    cache,
    inputs,
    events,
    probes,
    logger,
    tracer,
    clock,
    gcPolicy: {
      minAgeMs: options.minContainerAgeMs,
      maxPerContainer: options.maxDeadContainersPerContainer,
      maxOnNode: options.maxDeadContainers,
    },
    nodeName,
  });
  const { containerLogMaxSize: maxSize, containerLogMaxFiles: maxFiles } = options;
  const logs = new LogRotator({ runtime, clock, logger, maxSize, maxFiles });
  return { runtimes, resizer, logs };
}
