import {
  PersistentVolumeClaims,
  PersistentVolumes,
  type Container,
  type Pod,
  type Volume,
  type VolumeMount,
} from '@tinkernetes/api';
import type { Client } from '@tinkernetes/client';
import type { Clock, Random } from '@tinkernetes/component-base';
import type { DeepPartial, Mount } from '@tinkernetes/cri';
import { createHash } from 'node:crypto';
import { chmod, mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join, normalize } from 'node:path';
import type { Environment } from '../environment/environment';
import { expand } from '../environment/expansion';
import { uidOf } from '../pods/pod-facts';
import type { PodEvents } from '../runtime/pod-events';
import { ignoreMissing, writeAtomically, type Payload } from './atomic-writer';
import { volumePayload, type PayloadContext } from './payload';
import type { PodDirectories } from './pod-directories';

export interface VolumeManagerDeps {
  client: Client;
  clock: Clock;
  random: Random;
  directories: PodDirectories;
  events: PodEvents;
}

/** A volume could not be set up; an event has told why. The Pod's sync is tried again. */
export class MountError extends Error {
  override readonly name = 'MountError';
}

/** Where a volume's content is: a directory of the node, or an image. */
export type MountedVolume = { path: string } | { image: string };
export type MountedVolumes = ReadonlyMap<string, MountedVolume>;

/** Sets up the volumes of Pods below their directories and keeps projected content current. */
export class VolumeManager {
  private readonly written = new Map<string, string>();
  private readonly byPod = new Map<string, MountedVolumes>();

  constructor(private readonly deps: VolumeManagerDeps) {}

  /** What `mount` has made for the Pod. */
  mounted(uid: string): MountedVolumes {
    return this.byPod.get(uid) ?? new Map<string, MountedVolume>();
  }

  /** Makes the volumes that the Pod names, or brings their content up to date. */
  async mount(pod: Pod, context: PayloadContext): Promise<void> {
    const mounted = new Map<string, MountedVolume>();
    await Promise.all(
      (pod.spec.volumes ?? []).map(async (volume) => {
        try {
          mounted.set(volume.name, await this.setUp(pod, volume, context));
        } catch (error) {
          const reason = error instanceof Error ? error.message : String(error);
          const message = `MountVolume.SetUp failed for volume "${volume.name}" : ${reason}`;
          this.deps.events.pod(pod, 'Warning', 'FailedMount', message);
          throw new MountError(message, { cause: error });
        }
      }),
    );
    this.byPod.set(uidOf(pod), mounted);
  }

  /** Removes the Pod's directory with everything the kubelet made there. */
  async remove(uid: string): Promise<void> {
    this.byPod.delete(uid);
    const directory = this.deps.directories.pod(uid);
    for (const key of [...this.written.keys()]) if (key.startsWith(`${directory}/`)) this.written.delete(key);
    await rm(directory, { recursive: true, force: true });
  }

  private async setUp(pod: Pod, volume: Volume, context: PayloadContext): Promise<MountedVolume> {
    const payload = await volumePayload(pod, volume, context);
    if (payload) {
      const path = this.deps.directories.volume(uidOf(pod), pluginOf(volume), volume.name);
      this.project(path, payload);
      return { path };
    }
    if (volume.emptyDir) {
      const path = this.deps.directories.volume(uidOf(pod), 'kubernetes.io/empty-dir', volume.name);
      await mkdir(path, { recursive: true });
      await chmod(path, 0o777);
      return { path };
    }
    if (volume.hostPath) {
      await checkHostPath(volume.hostPath.path, volume.hostPath.type ?? '');
      return { path: volume.hostPath.path };
    }
    if (volume.image) return { image: volume.image.reference ?? '' };
    const claim =
      volume.persistentVolumeClaim?.claimName ?? (volume.ephemeral && `${pod.metadata.name}-${volume.name}`);
    if (claim) return { path: await this.claimPath(pod, claim) };
    const kind = Object.keys(volume).find((key) => key !== 'name') ?? 'unknown';
    throw new Error(`no volume plugin matched: ${kind}`);
  }

  /** Writes only what has changed since the last time. */
  private project(path: string, payload: Payload): void {
    const hash = createHash('sha256');
    for (const [name, { data, mode }] of [...payload].sort(([a], [b]) => (a < b ? -1 : 1))) {
      hash.update(`${name}\0${mode}\0${data.length}\0`).update(data);
    }
    const digest = hash.digest('hex');
    if (this.written.get(path) === digest) return;
    writeAtomically(path, payload, { now: new Date(this.deps.clock.now()), random: this.deps.random });
    this.written.set(path, digest);
  }

  private async claimPath(pod: Pod, claimName: string): Promise<string> {
    const { client } = this.deps;
    const namespace = pod.metadata.namespace ?? '';
    const claim = await client.for(PersistentVolumeClaims).get(claimName, { namespace });
    const { volumeName } = claim.spec ?? {};
    if (!volumeName || claim.status?.phase !== 'Bound')
      throw new Error(`PVC ${namespace}/${claimName} is not bound`);
    const { spec } = await client.for(PersistentVolumes).get(volumeName);
    const path = spec?.hostPath?.path ?? spec?.local?.path;
    if (!path) throw new Error(`no volume plugin matched PersistentVolume "${volumeName}"`);
    if (spec?.hostPath) await checkHostPath(path, spec.hostPath.type ?? 'DirectoryOrCreate');
    return path;
  }
}

function pluginOf(volume: Volume): string {
  if (volume.configMap) return 'kubernetes.io/configmap';
  if (volume.secret) return 'kubernetes.io/secret';
  return volume.downwardAPI ? 'kubernetes.io/downward-api' : 'kubernetes.io/projected';
}

/** Source: https://kubernetes.io/docs/concepts/storage/volumes/#hostpath-volume-types */
async function checkHostPath(path: string, type: string): Promise<void> {
  const found = await stat(path).catch(ignoreMissing);
  switch (type) {
    case '':
      return;
    case 'DirectoryOrCreate':
      if (!found) await mkdir(path, { recursive: true, mode: 0o755 });
      else if (!found.isDirectory())
        throw new Error(`hostPath type check failed: ${path} is not a directory`);
      return;
    case 'FileOrCreate':
      if (!found) await writeFile(path, '', { mode: 0o644 });
      else if (!found.isFile()) throw new Error(`hostPath type check failed: ${path} is not a file`);
      return;
    case 'Directory':
      if (!found?.isDirectory()) throw new Error(`hostPath type check failed: ${path} is not a directory`);
      return;
    case 'File':
      if (!found?.isFile()) throw new Error(`hostPath type check failed: ${path} is not a file`);
      return;
    case 'Socket':
      if (!found?.isSocket()) throw new Error(`hostPath type check failed: ${path} is not a socket file`);
      return;
    default:
      throw new Error(`hostPath type ${type} is not supported`);
  }
}

const propagations = {
  None: 'PROPAGATION_PRIVATE',
  HostToContainer: 'PROPAGATION_HOST_TO_CONTAINER',
  Bidirectional: 'PROPAGATION_BIDIRECTIONAL',
} as const;

/** A container's volume mounts in the runtime's terms. */
export async function volumeMounts(
  container: Container,
  mounted: MountedVolumes,
  env: Environment,
): Promise<Array<DeepPartial<Mount>>> {
  const mounts: Array<DeepPartial<Mount>> = [];
  for (const mount of container.volumeMounts ?? []) {
    const volume = mounted.get(mount.name);
    if (!volume) throw new Error(`volume "${mount.name}" is not mounted`);
    const subPath = subPathOf(mount, env);
    const shared = {
      containerPath: mount.mountPath.startsWith('/') ? mount.mountPath : `/${mount.mountPath}`,
      readonly: mount.readOnly ?? false,
      propagation: propagations[mount.mountPropagation ?? 'None'],
    };
    if ('image' in volume) {
      mounts.push({ ...shared, readonly: true, image: { image: volume.image }, imageSubPath: subPath });
      continue;
    }
    mounts.push({ ...shared, hostPath: subPath ? await subPathIn(volume.path, subPath) : volume.path });
  }
  return mounts;
}

function subPathOf(mount: VolumeMount, env: Environment): string {
  const path = mount.subPathExpr ? expand(mount.subPathExpr, (name) => env.get(name)) : (mount.subPath ?? '');
  if (path.startsWith('/')) throw new Error(`error SubPath ${path} must not be an absolute path`);
  if (normalize(path).split('/').includes('..'))
    throw new Error(`error SubPath ${path} must not contain '..'`);
  return path;
}

/** A sub path that doesn't exist becomes a directory. */
async function subPathIn(volume: string, subPath: string): Promise<string> {
  const path = join(volume, subPath);
  if (!(await stat(path).catch(ignoreMissing))) {
    await mkdir(dirname(path), { recursive: true });
    await mkdir(path, { recursive: true, mode: 0o755 });
  }
  return path;
}
