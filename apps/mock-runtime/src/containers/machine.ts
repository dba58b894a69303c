import type { LinuxContainerResources } from '@tinkernetes/cri';
import { FileSystem } from '../files/file-system';
import { virtualNode } from '../files/virtual-files';
import { capabilitiesOf } from '../kernel/capabilities';
import { Cpu } from '../kernel/cpu';
import { Memory } from '../kernel/memory';
import type { Machine } from '../kernel/process';
import type { ContainerEnvironment } from './container';
import { hostNetworkOf, type ContainerRecord } from './records';
import { imageMounts } from './image-mounts';
import { sandboxFiles } from './sandbox-files';

/** What the processes of a container live in: its files, namespaces, limits and rights. */
export function makeMachine(
  { config }: ContainerRecord,
  { clock, random, net, nodeName, sandbox, image, images, table }: ContainerEnvironment,
  outOfMemory: () => void,
): Machine {
  const security = config.linux?.securityContext;
  const ownName = hostNetworkOf(sandbox.config) ? nodeName : sandbox.id.slice(0, 12);
  const hostname = sandbox.config.hostname || ownName;
  const fs = new FileSystem(image.definition.root(image.tag), {
    clock,
    readonlyRoot: security?.readonlyRootfs ?? false,
    maskedPaths: security?.maskedPaths,
    readonlyPaths: security?.readonlyPaths,
    mounts: [
      ...config.mounts.filter((mount) => mount.hostPath !== ''),
      ...imageMounts(config, images),
      ...config.devices.map(({ containerPath, hostPath, permissions }) => ({
        containerPath,
        hostPath,
        readonly: !permissions.includes('w'),
        isDevice: true,
      })),
    ],
    files: sandboxFiles(sandbox, hostname),
    virtual: (path) =>
      virtualNode(path, machine, {
        resources: config.linux?.resources ?? undefined,
        sysctls: sandbox.config.linux?.sysctls ?? {},
      }),
  });
  const machine: Machine = {
    fs,
    net,
    clock,
    random,
    hostname,
    table: table(),
    capabilities: capabilitiesOf(security),
    memory: new Memory(() => config.linux?.resources?.memoryLimitInBytes ?? 0, outOfMemory),
    cpu: new Cpu(clock, () => coresOf(config.linux?.resources)),
    startedAt: clock.now(),
  };
  return machine;
}

/** By the CPU limit. */
function coresOf(resources: LinuxContainerResources | null | undefined): number {
  const { cpuQuota = 0, cpuPeriod = 0 } = resources ?? {};
  return cpuQuota > 0 && cpuPeriod > 0 ? cpuQuota / cpuPeriod : Infinity;
}
