import type { Container, Node, Pod, Service } from '@tinkernetes/api';
import type { DeepPartial, Mount, PodSandboxConfig } from '@tinkernetes/cri';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Random } from '@tinkernetes/component-base';
import { makeEnvironment, type Environment, type ObjectSource } from '../environment/environment';
import { mergedDevices } from '../devices/container-devices';
import type { DeviceManager } from '../devices/device-manager';
import { podDNS, type DNSSettings } from '../network/dns';
import { hostNetworkHostsFile, hostsFile } from '../network/hosts-file';
import { podHostname } from '../network/pod-hostname';
import type { PodInputs } from '../runtime/container-starter';
import type { PodEvents } from '../runtime/pod-events';
import { sandboxConfig } from '../runtime/sandbox-config';
import { ignoreMissing } from '../volumes/atomic-writer';
import type { PodDirectories } from '../volumes/pod-directories';
import { fileIn } from '../volumes/sub-paths';
import { volumeDevices, volumeMounts, type VolumeManager } from '../volumes/volume-manager';
import { isHostNetwork, uidOf } from './pod-facts';

export interface PodInputsDeps {
  objects: ObjectSource;
  volumes: VolumeManager;
  devices: Pick<DeviceManager, 'options'>;
  directories: PodDirectories;
  events: Pick<PodEvents, 'pod'>;
  random: Random;
  dns: DNSSettings;
  podLogsDir: string;
  ownerLabel: string | undefined;
  hostIPs: readonly string[];
  node(): Node | undefined;
  services(): readonly Service[];
}

const defaultTerminationMessagePath = '/dev/termination-log';

/** Turns a Pod's spec and what the node knows into sandbox and container configuration. */
export function createPodInputs(deps: PodInputsDeps): PodInputs {
  const { directories, dns, hostIPs } = deps;
  const hostname = (pod: Pod) => podHostname(pod, dns.clusterDomain);
  const environment = (pod: Pod, container: Container, podIPs: readonly string[]): Promise<Environment> =>
    makeEnvironment(pod, container, {
      objects: deps.objects,
      services: deps.services(),
      node: deps.node(),
      addresses: { podIPs: isHostNetwork(pod) ? hostIPs : podIPs, hostIPs },
      async volumeFile(name, path) {
        const volume = deps.volumes.mounted(uidOf(pod)).get(name);
        if (!volume || !('path' in volume)) throw new Error(`cannot find the volume "${name}" of a file`);
        return fileIn(volume.path, path);
      },
    });
  return {
    environment,
    async devices(pod, container) {
      const plugins = mergedDevices(await deps.devices.options(pod, container));
      const disks = volumeDevices(container, deps.volumes.mounted(uidOf(pod)));
      return { ...plugins, devices: [...disks, ...plugins.devices] };
    },
    sandbox(pod, attempt): DeepPartial<PodSandboxConfig> {
      const { podLogsDir, ownerLabel, events } = deps;
      const { config, warnings } = podDNS(pod, dns);
      for (const [reason, message] of warnings) events.pod(pod, 'Warning', reason, message);
      const settings = { attempt, hostname: hostname(pod).hostname, dns: config };
      return sandboxConfig(pod, { ...settings, podLogsDir, ownerLabel });
    },
    async mounts(pod, container, podIPs): Promise<Array<DeepPartial<Mount>>> {
      const env = container.volumeMounts?.some((m) => m.subPathExpr)
        ? await environment(pod, container, podIPs)
        : new Map<string, string>();
      const subPaths = directories.subPaths(uidOf(pod));
      const mounts = await volumeMounts(container, deps.volumes.mounted(uidOf(pod)), { env, subPaths });
      if (!mounts.some((m) => m.containerPath === '/etc/hosts') && podIPs.length + hostIPs.length > 0) {
        mounts.push({ containerPath: '/etc/hosts', hostPath: await hosts(pod, podIPs) });
      }
      mounts.push(terminationLog(pod, container));
      return mounts;
    },
  };

  async function hosts(pod: Pod, ips: readonly string[]): Promise<string> {
    const path = directories.hostsFile(uidOf(pod));
    const content = isHostNetwork(pod)
      ? hostNetworkHostsFile(pod, (await readFile('/etc/hosts', 'utf8').catch(ignoreMissing)) ?? '')
      : hostsFile(pod, { ...hostname(pod), ips });
    writeFileSync(path, content, { mode: 0o644 });
    return path;
  }

  /** A file of its own for each run of the container, so that old words are never taken for new ones. */
  function terminationLog(pod: Pod, container: Container): DeepPartial<Mount> {
    const directory = directories.container(uidOf(pod), container.name);
    mkdirSync(directory, { recursive: true });
    const hostPath = join(directory, deps.random.hex(4));
    writeFileSync(hostPath, '');
    chmodSync(hostPath, 0o666);
    return { containerPath: container.terminationMessagePath ?? defaultTerminationMessagePath, hostPath };
  }
}
