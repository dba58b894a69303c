import type { Container, Pod, Volume } from '@tinkernetes/api';
import type { Clock, Random } from '@tinkernetes/component-base';
import type { DeepPartial, Device, Mount } from '@tinkernetes/cri';
import { createHash } from 'node:crypto';
import { chmod, mkdir, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Environment } from '../environment/environment';
import { isRecursive, uidOf } from '../pods/pod-facts';

import type { PodEvents } from '../runtime/pod-events';
import { writeAtomically, type Payload } from './atomic-writer';
import { checkHostPath } from './check-host-path';
import type { ClaimVolumes } from './claim-volumes';
import { NotYet } from './csi/csi-objects';
import type { CsiVolumes } from './csi/csi-volumes';
import { MemoryDirectories } from './memory-directories';
import { giveToGroup } from './ownership';
import { keptAside, subPathIn, subPathOf } from './sub-paths';
import { volumePayload, type PayloadContext } from './payload';
import type { TrustBundles } from './trust-bundles';
import type { PodDirectories } from './pod-directories';

export interface VolumeManagerDeps {
  claims: ClaimVolumes;
  csi: CsiVolumes;
  trustBundles: TrustBundles;
  clock: Clock;
  random: Random;
  directories: PodDirectories;
  events: PodEvents;
}

/** A volume could not be set up; an event has told why, unless it only takes its time. The Pod's sync is tried again. */
export class MountError extends Error {
  override readonly name = 'MountError';
}

/** Where a volume's content is: a directory of the node, a block device, or an image. */
export type MountedVolume =
  | { path: string; readOnly?: boolean; isProjected?: boolean }
  | { device: string; readOnly?: boolean }
  | { image: string };
export type MountedVolumes = ReadonlyMap<string, MountedVolume>;

/** How long volumes may take to be attached before the Pod says so. Source: upstream's podAttachAndMountTimeout. */
const attachTimeoutMs = 123_000;

/** Sets up the volumes of Pods below their directories and keeps projected content current. */
export class VolumeManager {
  private readonly memory: MemoryDirectories;
  private readonly written = new Map<string, string>();
  private readonly byPod = new Map<string, MountedVolumes>();
  /** Since when a Pod's volumes are waited for. */
  private readonly waitingSince = new Map<string, number>();

  constructor(private readonly deps: VolumeManagerDeps) {
    this.memory = new MemoryDirectories(deps.directories.rootDir);
  }

  /** What `mount` has made for the Pod. */
  mounted(uid: string): MountedVolumes {
    return this.byPod.get(uid) ?? new Map<string, MountedVolume>();
  }

  /** Makes the volumes that the Pod names, or brings their content up to date. */
  async mount(pod: Pod, context: Omit<PayloadContext, 'trustBundles'>): Promise<void> {
    const mounted = new Map<string, MountedVolume>();
    const { trustBundles } = this.deps;
    const results = await Promise.allSettled(
      (pod.spec.volumes ?? []).map(async (volume) => {
        const set = await this.setUp(pod, volume, { ...context, trustBundles });
        checkMode(pod, volume, set);
        mounted.set(volume.name, set);
      }),
    );
    const failed = results.flatMap((result, i) => {
      const name = pod.spec.volumes?.[i]?.name ?? '';
      return result.status === 'rejected' ? [{ name, error: result.reason as unknown }] : [];
    });
    for (const { name, error } of failed) {
      if (error instanceof NotYet) continue;
      const reason = error instanceof Error ? describe(error) : String(error);
      const message = `MountVolume.SetUp failed for volume "${name}" : ${reason}`;
      this.deps.events.pod(pod, 'Warning', 'FailedMount', message);
    }
    const [first] = failed;
    if (first) {
      this.sayWhenLate(
        pod,
        failed.map(({ name }) => name),
      );
      throw new MountError(`volume "${first.name}" is not mounted`, { cause: first.error });
    }
    this.waitingSince.delete(uidOf(pod));
    this.byPod.set(uidOf(pod), mounted);
  }

  /** Pods whose volumes are waited for: what they wait for may have come. */
  get waiting(): Iterable<string> {
    return this.waitingSince.keys();
  }

  /** Once, and again each time that the same time has passed. */
  private sayWhenLate(pod: Pod, names: readonly string[]): void {
    const uid = uidOf(pod);
    const now = this.deps.clock.monotonic();
    const since = this.waitingSince.get(uid);
    if (since === undefined) this.waitingSince.set(uid, now);
    if (since === undefined || now - since < attachTimeoutMs) return;
    this.waitingSince.set(uid, now);
    const list = names.join(' ');
    const message = `Unable to attach or mount volumes: unmounted volumes=[${list}], unattached volumes=[${list}], failed to process volumes=[]: context deadline exceeded`;
    this.deps.events.pod(pod, 'Warning', 'FailedMount', message);
  }

  /** Removes the Pod's directory with everything the kubelet made there. */
  async remove(uid: string): Promise<void> {
    this.byPod.delete(uid);
    this.waitingSince.delete(uid);
    // What is mounted goes first: nothing below the directory may be a volume's data when it is removed.
    await this.deps.csi.unmount(uid);
    this.deps.claims.forget(uid);
    await this.memory.remove(uid);
    const directory = this.deps.directories.pod(uid);
    for (const key of [...this.written.keys()]) if (key.startsWith(`${directory}/`)) this.written.delete(key);
    await rm(directory, { recursive: true, force: true });
  }

  private async setUp(pod: Pod, volume: Volume, context: PayloadContext): Promise<MountedVolume> {
    const payload = await volumePayload(pod, volume, context);
    if (payload) {
      const path = this.deps.directories.volume(uidOf(pod), pluginOf(volume), volume.name);
      if (this.project(path, payload)) await giveToGroup(path, pod, { readOnly: true });
      // What containers wrote there would go with the next change.
      return { path, readOnly: true, isProjected: true };
    }
    if (volume.emptyDir) {
      const path = this.deps.directories.volume(uidOf(pod), 'kubernetes.io/empty-dir', volume.name);
      if (volume.emptyDir.medium === 'Memory') await this.memory.make(path, uidOf(pod), volume.name);
      else await mkdir(path, { recursive: true });
      // Once: what containers make there later, and how they change its mode, is their own affair.
      if (!this.byPod.has(uidOf(pod))) {
        await chmod(path, 0o777);
        await giveToGroup(await realpath(path), pod, { readOnly: false });
      }
      return { path };
    }
    if (volume.hostPath) {
      await checkHostPath(volume.hostPath.path, volume.hostPath.type ?? '');
      return { path: volume.hostPath.path };
    }
    if (volume.image) return { image: volume.image.reference ?? '' };
    if (volume.csi) return this.deps.csi.mountInline(pod, volume);
    const claim =
      volume.persistentVolumeClaim?.claimName ?? (volume.ephemeral && `${pod.metadata.name}-${volume.name}`);
    const readOnly = volume.persistentVolumeClaim?.readOnly ?? false;
    if (claim) return this.deps.claims.mount(pod, claim, readOnly);
    const kind = Object.keys(volume).find((key) => key !== 'name') ?? 'unknown';
    throw new Error(`no volume plugin matched: ${kind}`);
  }

  /** Writes only what has changed since the last time; whether it has. */
  private project(path: string, payload: Payload): boolean {
    const hash = createHash('sha256');
    for (const [name, { data, mode }] of [...payload].sort(([a], [b]) => (a < b ? -1 : 1))) {
      hash.update(`${name}\0${mode}\0${data.length}\0`).update(data);
    }
    const digest = hash.digest('hex');
    if (this.written.get(path) === digest) return false;
    writeAtomically(path, payload, { now: new Date(this.deps.clock.now()), random: this.deps.random });
    this.written.set(path, digest);
    return true;
  }
}

function pluginOf(volume: Volume): string {
  if (volume.configMap) return 'kubernetes.io/configmap';
  if (volume.secret) return 'kubernetes.io/secret';
  return volume.downwardAPI ? 'kubernetes.io/downward-api' : 'kubernetes.io/projected';
}

/** A driver's refusal with its code, as Kubernetes shows it. */
const describe = (error: Error): string => (error.name === 'CsiError' ? error.toString() : error.message);

/** A device is named in volumeDevices, everything else in volumeMounts. Source: desired_state_of_world_populator.go. */
function checkMode({ spec }: Pod, { name }: Volume, mounted: MountedVolume): void {
  const containers = [
    ...(spec.initContainers ?? []),
    ...spec.containers,
    ...(spec.ephemeralContainers ?? []),
  ];
  const isDevice = 'device' in mounted;
  const wrong = isDevice ? 'volumeMounts' : 'volumeDevices';
  if (containers.some((container) => container[wrong]?.some((use) => use.name === name)))
    throw new Error(
      `volume ${name} has volumeMode ${isDevice ? 'Block' : 'Filesystem'}, but is specified in ${wrong}`,
    );
}

/** A container's block devices in the runtime's terms. */
export function volumeDevices(container: Container, mounted: MountedVolumes): Device[] {
  return (container.volumeDevices ?? []).map(({ name, devicePath }) => {
    const volume = mounted.get(name);
    if (!volume || !('device' in volume)) throw new Error(`volume "${name}" is no block device`);
    const permissions = volume.readOnly ? 'r' : 'mrw';
    return { containerPath: devicePath, hostPath: volume.device, permissions };
  });
}

const propagations = {
  None: 'PROPAGATION_PRIVATE',
  HostToContainer: 'PROPAGATION_HOST_TO_CONTAINER',
  Bidirectional: 'PROPAGATION_BIDIRECTIONAL',
} as const;

/** A container's volume mounts in the runtime's terms. `subPaths`: where parts of volumes are kept for the Pod. */
export async function volumeMounts(
  container: Container,
  mounted: MountedVolumes,
  { env, subPaths }: { env: Environment; subPaths: string },
): Promise<Array<DeepPartial<Mount>>> {
  const mounts: Array<DeepPartial<Mount>> = [];
  for (const [index, mount] of (container.volumeMounts ?? []).entries()) {
    const volume = mounted.get(mount.name);
    if (!volume || 'device' in volume) throw new Error(`volume "${mount.name}" is not mounted`);
    const subPath = subPathOf(mount, env);
    const shared = {
      containerPath: mount.mountPath.startsWith('/') ? mount.mountPath : `/${mount.mountPath}`,
      readonly: (mount.readOnly ?? false) || ('path' in volume && volume.readOnly === true),
      recursiveReadOnly: isRecursive(mount.recursiveReadOnly),
      propagation: propagations[mount.mountPropagation ?? 'None'],
    };
    if ('image' in volume) {
      mounts.push({ ...shared, readonly: true, image: { image: volume.image }, imageSubPath: subPath });
      continue;
    }
    let hostPath = subPath ? await subPathIn(volume.path, subPath) : volume.path;
    if (subPath && volume.isProjected)
      hostPath = await keptAside(hostPath, join(subPaths, mount.name, container.name, String(index)));
    mounts.push({ ...shared, hostPath });
  }
  return mounts;
}
