import { mkdir, realpath } from 'node:fs/promises';
import type { Node, Pod, Volume } from '@tinkernetes/api';
import type { Client } from '@tinkernetes/client';
import { KeyedLock, type Logger } from '@tinkernetes/component-base';
import { uidOf } from '../../pods/pod-facts';
import type { PodEvents } from '../../runtime/pod-events';
import { giveToGroup } from '../ownership';
import type { TokenManager } from '../token-manager';
import { CsiDrivers, type CsiDriverConnection } from './csi-drivers';
import { CsiNodeObject } from './csi-node';
import { CsiObjects } from './csi-objects';
import {
  CsiPaths,
  linkDevice,
  removePublished,
  removeStaged,
  writeVolumeData,
  type VolumeData,
} from './csi-paths';
import { podTokens } from './csi-tokens';
import {
  attachmentName,
  capabilityOf,
  groupForDriver,
  groupOwns,
  groupOwnsInline,
  inlineHandle,
  podInfo,
  uniqueNameOf,
} from './csi-requests';
import { growOnNode, type ClaimedVolume, type GrowthDeps } from './volume-growth';
import { VolumesInUse } from './volumes-in-use';

export interface CsiVolumesDeps {
  client: Client;
  logger: Logger;
  signal: AbortSignal;
  rootDir: string;
  /** Where drivers put their sockets. */
  registryDir: string;
  nodeName: string;
  nodeUID(): string | undefined;
  node(): Node | undefined;
  tokens: Pick<TokenManager, 'token'>;
  events: PodEvents;
  /** A driver has come: what waits for it can go on. */
  onDriver(): void;
}

/** A directory, or a block device. */
export type Published = { readOnly: boolean } & ({ path: string } | { device: string });

/**
 * Volumes of CSI drivers in Pods: staged once a node, published once a Pod, taken away in reverse.
 * Source: pkg/volume/csi, https://kubernetes-csi.github.io/docs/
 */
export class CsiVolumes {
  private readonly paths: CsiPaths;
  private readonly drivers: CsiDrivers;
  private readonly inUse: VolumesInUse;
  private readonly growth: GrowthDeps;
  private readonly objects: CsiObjects;
  /** Pods that a volume is published in, by its unique name; from the disk after a restart. */
  private readonly users = new Map<string, Set<string>>();
  /** Published by this process, by `pod UID/volume`. */
  private readonly published = new Map<string, Published>();
  /** One thing at a time for a volume, as drivers may rely on. */
  private readonly locks = new KeyedLock();
  private recovered: Promise<void> | undefined;

  constructor(private readonly deps: CsiVolumesDeps) {
    const { client, logger, signal, nodeName, nodeUID } = deps;
    this.paths = new CsiPaths(deps.rootDir);
    this.inUse = new VolumesInUse(client, nodeName);
    this.growth = { client, events: deps.events, nodeName };
    this.objects = new CsiObjects(deps);
    const object = new CsiNodeObject({ client, nodeName, nodeUID });
    this.drivers = new CsiDrivers({
      directory: deps.registryDir,
      logger,
      signal,
      onRegistering: (driver) => object.add(driver),
      onRegistered: async (driver) => {
        deps.onDriver();
        await this.unstageUnused(driver);
      },
      onUnregistered: (name) => object.remove(name),
    });
  }

  /** Watches for drivers. */
  async start(): Promise<void> {
    await this.recover();
    await this.inUse.correct(this.deps.node()?.status?.volumesInUse ?? []);
    await this.drivers.start();
  }

  /** The volume of a claim. */
  async mountClaim(
    pod: Pod,
    { claim, volume, readOnly }: ClaimedVolume & { readOnly: boolean },
  ): Promise<Published> {
    const { csi } = volume.spec;
    if (!csi) throw new Error(`no volume plugin matched PersistentVolume "${volume.metadata.name}"`);
    const isBlock = volume.spec.volumeMode === 'Block';
    const { driver, volumeHandle: handle } = csi;
    const name = uniqueNameOf(driver, handle);
    const key = `${uidOf(pod)}/${volume.metadata.name}`;
    const known = {
      specVolID: volume.metadata.name,
      volumeHandle: handle,
      driverName: driver,
      ...(isBlock ? { volumeMode: 'Block' as const } : {}),
    };
    const place = this.paths.placeOf(uidOf(pod), known);
    await this.recover();
    return this.locks.run(name, async () => {
      const connection = this.drivers.get(driver);
      const done = this.published.get(key);
      if (done) {
        await growOnNode(this.growth, pod, { claim, volume, connection, place });
        return done;
      }
      const object = await this.objects.driver(driver);
      const attachmentID = attachmentName(driver, handle, this.deps.nodeName);
      const isAttached = object?.spec.attachRequired !== false;
      if (isAttached) await this.inUse.add(name);
      const publishContext = isAttached ? await this.objects.attached(name, attachmentID) : {};
      const data: VolumeData = {
        ...known,
        nodeName: this.deps.nodeName,
        attachmentID: isAttached ? attachmentID : '',
        volumeLifecycleMode: 'Persistent',
      };
      const request = {
        volumeId: handle,
        publishContext,
        volumeCapability: capabilityOf(volume, csi.fsType, groupForDriver(pod, connection)),
        volumeContext: csi.volumeAttributes ?? {},
      };
      const stages = connection.capabilities.has('STAGE_UNSTAGE_VOLUME');
      if (stages) {
        await writeVolumeData(place.stagedData, data);
        await mkdir(place.staging, { recursive: true, mode: 0o750 }).catch(ignoreExisting);
        await connection.node.nodeStageVolume({
          ...request,
          stagingTargetPath: place.staging,
          secrets: await this.objects.secrets(csi.nodeStageSecretRef),
        });
      }
      await writeVolumeData(place.publishedData, data);
      await linkDevice(place);
      this.usersOf(name).add(uidOf(pod));
      const isReadOnly = readOnly || csi.readOnly === true;
      const told = await podTokens(pod, object, this.deps.tokens);
      await connection.node.nodePublishVolume({
        ...request,
        volumeContext: { ...request.volumeContext, ...podInfo(pod, object, false), ...told.volumeContext },
        stagingTargetPath: stages ? place.staging : '',
        targetPath: place.target,
        readonly: isReadOnly,
        secrets: { ...(await this.objects.secrets(csi.nodePublishSecretRef)), ...told.secrets },
      });
      const drivers = groupForDriver(pod, connection) !== undefined;
      if (!isReadOnly && !isBlock && !drivers && groupOwns(volume, object))
        await giveToGroup(await realpath(place.target), pod, { readOnly: false });
      const result = place.link
        ? { device: place.link, readOnly: isReadOnly }
        : { path: place.target, readOnly: isReadOnly };
      if (!object?.spec.requiresRepublish) this.published.set(key, result);
      await growOnNode(this.growth, pod, { claim, volume, connection, place });
      return result;
    });
  }

  /** A volume that the Pod itself describes (`volumes[].csi`): made and removed with it. */
  async mountInline(pod: Pod, { name, csi }: Volume): Promise<Published> {
    if (!csi) throw new Error(`volume ${name} is not of a CSI driver`);
    const uid = uidOf(pod);
    const { namespace = '' } = pod.metadata;
    const handle = inlineHandle(pod, name);
    const key = `${uid}/${name}`;
    await this.recover();
    return this.locks.run(uniqueNameOf(csi.driver, handle), async () => {
      const done = this.published.get(key);
      if (done) return done;
      const connection = this.drivers.get(csi.driver);
      const object = await this.objects.driver(csi.driver);
      if (!object?.spec.volumeLifecycleModes?.includes('Ephemeral'))
        throw new Error(
          `kubernetes.io/csi: mounter.SetUpAt failed to check volume lifecycle mode: volume mode "Ephemeral" not supported by driver ${csi.driver} (only supports ["Persistent"])`,
        );
      const known = { specVolID: name, volumeHandle: handle, driverName: csi.driver };
      const { target: path, publishedData } = this.paths.placeOf(uid, known);
      await writeVolumeData(publishedData, {
        ...known,
        nodeName: this.deps.nodeName,
        attachmentID: '',
        volumeLifecycleMode: 'Ephemeral',
      });
      const secret = csi.nodePublishSecretRef?.name;
      const group = groupForDriver(pod, connection);
      const told = await podTokens(pod, object, this.deps.tokens);
      await connection.node.nodePublishVolume({
        volumeId: handle,
        stagingTargetPath: '',
        targetPath: path,
        readonly: csi.readOnly ?? false,
        volumeCapability: {
          mount: { fsType: csi.fsType ?? '', volumeMountGroup: group ?? '' },
          accessMode: { mode: 'SINGLE_NODE_WRITER' },
        },
        volumeContext: { ...csi.volumeAttributes, ...podInfo(pod, object, true), ...told.volumeContext },
        secrets: {
          ...(await this.objects.secrets(secret ? { name: secret, namespace } : undefined)),
          ...told.secrets,
        },
      });
      if (!csi.readOnly && group === undefined && groupOwnsInline(csi, object))
        await giveToGroup(await realpath(path), pod, { readOnly: false });
      const result = { path, readOnly: csi.readOnly ?? false };
      if (!object.spec.requiresRepublish) this.published.set(key, result);
      return result;
    });
  }

  /** Takes away what the disk says is mounted in a Pod; throws while a driver can't. */
  async unmount(podUID: string): Promise<void> {
    const volumes = await this.paths.publishedIn(podUID);
    if (volumes.length === 0) return;
    await this.recover();
    for (const data of volumes) {
      const name = uniqueNameOf(data.driverName, data.volumeHandle);
      await this.locks.run(name, () => this.unpublish(podUID, data));
    }
  }

  /** Pods that still have volumes here, though the kubelet has none of them any more. */
  async leftovers(isKnown: (podUID: string) => boolean): Promise<string[]> {
    await this.recover();
    const uids = new Set([...this.users.values()].flatMap((pods) => [...pods]));
    return [...uids].filter((uid) => !isKnown(uid));
  }

  private async unpublish(podUID: string, data: VolumeData): Promise<void> {
    const { driverName, volumeHandle, specVolID } = data;
    const connection = this.drivers.get(driverName);
    const place = this.paths.placeOf(podUID, data);
    await connection.node.nodeUnpublishVolume({ volumeId: volumeHandle, targetPath: place.target });
    await removePublished(place);
    this.published.delete(`${podUID}/${specVolID}`);
    const name = uniqueNameOf(driverName, volumeHandle);
    const users = this.usersOf(name);
    users.delete(podUID);
    if (users.size > 0) return;
    if (data.volumeLifecycleMode === 'Persistent') await this.unstage(connection, data);
    else this.users.delete(name);
  }

  private async unstage(connection: CsiDriverConnection, data: VolumeData): Promise<void> {
    const { driverName, volumeHandle } = data;
    const name = uniqueNameOf(driverName, volumeHandle);
    const place = this.paths.placeOf('', data);
    if (connection.capabilities.has('STAGE_UNSTAGE_VOLUME'))
      await connection.node.nodeUnstageVolume({ volumeId: volumeHandle, stagingTargetPath: place.staging });
    // Of a block volume something is kept there also where its driver stages nothing.
    await removeStaged(place);
    this.users.delete(name);
    await this.inUse.remove(name);
  }

  /** What a kubelet before this one staged, and no Pod uses any more. */
  private async unstageUnused(connection: CsiDriverConnection): Promise<void> {
    for (const data of await this.paths.stagedVolumes()) {
      const name = uniqueNameOf(data.driverName, data.volumeHandle);
      if (data.driverName !== connection.name || this.usersOf(name).size > 0) continue;
      await this.locks
        .run(name, () => this.unstage(connection, data))
        .catch((error: unknown) =>
          this.deps.logger.warn({ err: error, volume: data.specVolID }, 'could not unstage a volume'),
        );
    }
  }

  /** Reads from the disk what is mounted, once. */
  private recover(): Promise<void> {
    this.recovered ??= (async () => {
      for (const uid of await this.paths.podUIDs())
        for (const data of await this.paths.publishedIn(uid)) {
          const name = uniqueNameOf(data.driverName, data.volumeHandle);
          this.usersOf(name).add(uid);
          if (data.attachmentID) await this.inUse.add(name);
        }
    })().catch((error: unknown) => {
      this.recovered = undefined;
      throw error;
    });
    return this.recovered;
  }

  private usersOf(name: string): Set<string> {
    const users = this.users.get(name) ?? new Set<string>();
    this.users.set(name, users);
    return users;
  }
}

/** A volume that is staged already is there. */
function ignoreExisting(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  return undefined;
}
