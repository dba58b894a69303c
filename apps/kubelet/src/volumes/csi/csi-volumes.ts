import { createHash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import {
  CSIDrivers,
  PersistentVolumeClaims,
  Secrets,
  VolumeAttachments,
  type CSIDriver,
  type Node,
  type PersistentVolume,
  type PersistentVolumeClaim,
  type Pod,
  type SecretReference,
  type Volume,
} from '@tinkernetes/api';
import { ignoreNotFound, Quantity } from '@tinkernetes/apimachinery';
import type { Client } from '@tinkernetes/client';
import type { Logger } from '@tinkernetes/component-base';
import type { VolumeCapability } from '@tinkernetes/csi';
import { uidOf } from '../../pods/pod-facts';
import type { PodEvents } from '../../runtime/pod-events';
import { CsiDrivers, type CsiDriverConnection } from './csi-drivers';
import { CsiNodeObject } from './csi-node';
import { CsiPaths, removeMountPoint, writeVolumeData, type VolumeData } from './csi-paths';
import { VolumesInUse } from './volumes-in-use';

/** Something else has to happen first; the Pod is looked at again, and nobody is told that anything failed. */
export class NotYet extends Error {
  override readonly name = 'NotYet';
}

export interface CsiVolumesDeps {
  client: Client;
  logger: Logger;
  signal: AbortSignal;
  rootDir: string;
  nodeName: string;
  nodeUID(): string | undefined;
  node(): Node | undefined;
  events: PodEvents;
  /** A driver has come: what waits for it can go on. */
  onDriver(): void;
}

interface Published {
  path: string;
  readOnly: boolean;
}

const uniqueNameOf = (driver: string, handle: string): string => `kubernetes.io/csi/${driver}^${handle}`;
const lifecycle = 'csi.storage.k8s.io/';

/**
 * Volumes of CSI drivers in Pods: staged once a node, published once a Pod, taken away in reverse.
 * Source: pkg/volume/csi, https://kubernetes-csi.github.io/docs/
 */
export class CsiVolumes {
  private readonly paths: CsiPaths;
  private readonly drivers: CsiDrivers;
  private readonly inUse: VolumesInUse;
  /** Pods that a volume is published in, by its unique name; from the disk after a restart. */
  private readonly users = new Map<string, Set<string>>();
  /** Published by this process, by `pod UID/volume`. */
  private readonly published = new Map<string, Published>();
  private readonly locks = new Map<string, Promise<unknown>>();
  private recovered: Promise<void> | undefined;

  constructor(private readonly deps: CsiVolumesDeps) {
    const { client, logger, signal, nodeName, nodeUID } = deps;
    this.paths = new CsiPaths(deps.rootDir);
    this.inUse = new VolumesInUse(client, nodeName);
    const object = new CsiNodeObject({ client, nodeName, nodeUID });
    this.drivers = new CsiDrivers({
      directory: this.paths.registry,
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
    {
      claim,
      volume,
      readOnly,
    }: { claim: PersistentVolumeClaim; volume: PersistentVolume; readOnly: boolean },
  ): Promise<Published> {
    const { csi } = volume.spec;
    if (!csi) throw new Error(`no volume plugin matched PersistentVolume "${volume.metadata.name}"`);
    if (volume.spec.volumeMode === 'Block')
      throw new Error('volumeMode Block is not supported by this kubelet');
    const { driver, volumeHandle: handle } = csi;
    const name = uniqueNameOf(driver, handle);
    const key = `${uidOf(pod)}/${volume.metadata.name}`;
    await this.recover();
    return this.locked(name, async () => {
      const connection = this.drivers.get(driver);
      const capability = capabilityOf(volume, csi.fsType);
      const done = this.published.get(key);
      if (done) {
        await this.expand(pod, { claim, volume, connection, capability });
        return done;
      }
      const object = await this.driverObject(driver);
      const attachmentID = attachmentName(driver, handle, this.deps.nodeName);
      const isAttached = object?.spec.attachRequired !== false;
      if (isAttached) await this.inUse.add(name);
      const publishContext = isAttached ? await this.attached(name, attachmentID) : {};
      const data: VolumeData = {
        specVolID: volume.metadata.name,
        volumeHandle: handle,
        driverName: driver,
        nodeName: this.deps.nodeName,
        attachmentID: isAttached ? attachmentID : '',
        volumeLifecycleMode: 'Persistent',
      };
      const request = {
        volumeId: handle,
        publishContext,
        volumeCapability: capability,
        volumeContext: { ...csi.volumeAttributes, ...podInfo(pod, object, false) },
      };
      const staging = this.paths.staging(driver, handle);
      const stages = connection.capabilities.has('STAGE_UNSTAGE_VOLUME');
      if (stages) {
        await writeVolumeData(staging, data);
        await mkdir(staging, { recursive: true, mode: 0o750 }).catch(ignoreExisting);
        await connection.node.nodeStageVolume({
          ...request,
          stagingTargetPath: staging,
          secrets: await this.secrets(csi.nodeStageSecretRef),
        });
      }
      const path = this.paths.target(uidOf(pod), volume.metadata.name);
      await writeVolumeData(path, data);
      this.usersOf(name).add(uidOf(pod));
      const isReadOnly = readOnly || csi.readOnly === true;
      await connection.node.nodePublishVolume({
        ...request,
        stagingTargetPath: stages ? staging : '',
        targetPath: path,
        readonly: isReadOnly,
        secrets: await this.secrets(csi.nodePublishSecretRef),
      });
      const result = { path, readOnly: isReadOnly };
      if (!object?.spec.requiresRepublish) this.published.set(key, result);
      await this.expand(pod, { claim, volume, connection, capability });
      return result;
    });
  }

  /** A volume that the Pod itself describes (`volumes[].csi`): made and removed with it. */
  async mountInline(pod: Pod, { name, csi }: Volume): Promise<Published> {
    if (!csi) throw new Error(`volume ${name} is not of a CSI driver`);
    const uid = uidOf(pod);
    const { namespace = '' } = pod.metadata;
    const handle = `csi-${createHash('sha256').update(`${name}${pod.metadata.name}${namespace}${uid}`).digest('hex')}`;
    const key = `${uid}/${name}`;
    await this.recover();
    return this.locked(uniqueNameOf(csi.driver, handle), async () => {
      const done = this.published.get(key);
      if (done) return done;
      const connection = this.drivers.get(csi.driver);
      const object = await this.driverObject(csi.driver);
      if (!object?.spec.volumeLifecycleModes?.includes('Ephemeral'))
        throw new Error(
          `kubernetes.io/csi: mounter.SetUpAt failed to check volume lifecycle mode: volume mode "Ephemeral" not supported by driver ${csi.driver} (only supports ["Persistent"])`,
        );
      const path = this.paths.target(uid, name);
      await writeVolumeData(path, {
        specVolID: name,
        volumeHandle: handle,
        driverName: csi.driver,
        nodeName: this.deps.nodeName,
        attachmentID: '',
        volumeLifecycleMode: 'Ephemeral',
      });
      const secret = csi.nodePublishSecretRef?.name;
      await connection.node.nodePublishVolume({
        volumeId: handle,
        stagingTargetPath: '',
        targetPath: path,
        readonly: csi.readOnly ?? false,
        volumeCapability: {
          mount: { fsType: csi.fsType ?? '' },
          accessMode: { mode: 'SINGLE_NODE_WRITER' },
        },
        volumeContext: { ...csi.volumeAttributes, ...podInfo(pod, object, true) },
        secrets: await this.secrets(secret ? { name: secret, namespace } : undefined),
      });
      const result = { path, readOnly: csi.readOnly ?? false };
      this.published.set(key, result);
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
      await this.locked(name, () => this.unpublish(podUID, data));
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
    const path = this.paths.target(podUID, specVolID);
    await connection.node.nodeUnpublishVolume({ volumeId: volumeHandle, targetPath: path });
    await removeMountPoint(path);
    this.published.delete(`${podUID}/${specVolID}`);
    const name = uniqueNameOf(driverName, volumeHandle);
    const users = this.usersOf(name);
    users.delete(podUID);
    if (users.size === 0 && data.volumeLifecycleMode === 'Persistent') await this.unstage(connection, data);
  }

  private async unstage(connection: CsiDriverConnection, data: VolumeData): Promise<void> {
    const { driverName, volumeHandle } = data;
    const name = uniqueNameOf(driverName, volumeHandle);
    if (connection.capabilities.has('STAGE_UNSTAGE_VOLUME')) {
      const staging = this.paths.staging(driverName, volumeHandle);
      await connection.node.nodeUnstageVolume({ volumeId: volumeHandle, stagingTargetPath: staging });
      await removeMountPoint(staging);
    }
    this.users.delete(name);
    await this.inUse.remove(name);
  }

  /** What a kubelet before this one staged, and no Pod uses any more. */
  private async unstageUnused(connection: CsiDriverConnection): Promise<void> {
    for (const data of await this.paths.stagedVolumes()) {
      const name = uniqueNameOf(data.driverName, data.volumeHandle);
      if (data.driverName !== connection.name || this.usersOf(name).size > 0) continue;
      await this.locked(name, () => this.unstage(connection, data)).catch((error: unknown) =>
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

  /** What the driver said when it attached the volume; throws NotYet until it has. */
  private async attached(name: string, attachmentID: string): Promise<Record<string, string>> {
    const isListed = this.deps.node()?.status?.volumesAttached?.some((volume) => volume.name === name);
    if (!isListed) throw new NotYet(`volume ${name} is not attached`);
    const attachment = await this.deps.client.for(VolumeAttachments).get(attachmentID).catch(ignoreNotFound);
    if (!attachment?.status?.attached) throw new NotYet(`volume ${name} is not attached`);
    return attachment.status.attachmentMetadata ?? {};
  }

  /** The node's part of growing a volume, where the controller's is done. */
  private async expand(
    pod: Pod,
    {
      claim,
      volume,
      connection,
      capability,
    }: {
      claim: PersistentVolumeClaim;
      volume: PersistentVolume;
      connection: CsiDriverConnection;
      capability: VolumeCapability;
    },
  ): Promise<void> {
    const storage = volume.spec.capacity?.['storage'] ?? '0';
    const size = Quantity.parse(storage);
    const has = Quantity.tryParse(claim.status?.capacity?.['storage']) ?? size;
    if (size.compare(has) <= 0) return;
    const { name, namespace } = claim.metadata;
    if (connection.capabilities.has('EXPAND_VOLUME')) {
      const { driver = '', volumeHandle = '' } = volume.spec.csi ?? {};
      await connection.node.nodeExpandVolume({
        volumeId: volumeHandle,
        volumePath: this.paths.target(uidOf(pod), volume.metadata.name),
        stagingTargetPath: this.paths.staging(driver, volumeHandle),
        capacityRange: { requiredBytes: size.value() },
        volumeCapability: capability,
      });
    }
    const pending = ['Resizing', 'FileSystemResizePending'];
    const status = {
      capacity: { ...claim.status?.capacity, storage },
      allocatedResourceStatuses: null,
      conditions: claim.status?.conditions?.filter(({ type }) => !pending.includes(type)) ?? [],
    };
    await this.deps.client
      .for(PersistentVolumeClaims)
      .patch(name, { status }, { type: 'merge', namespace, subresource: 'status' });
    const message = `MountVolume.NodeExpandVolume succeeded for volume "${volume.metadata.name}" ${this.deps.nodeName}`;
    this.deps.events.pod(pod, 'Normal', 'FileSystemResizeSuccessful', message);
  }

  private driverObject(name: string): Promise<CSIDriver | undefined> {
    return this.deps.client
      .for(CSIDrivers)
      .get(name)
      .catch((error: unknown) => {
        ignoreNotFound(error);
        return undefined;
      });
  }

  private async secrets(reference: SecretReference | undefined): Promise<Record<string, string>> {
    if (!reference?.name) return {};
    const { data = {} } = await this.deps.client
      .for(Secrets)
      .get(reference.name, { namespace: reference.namespace });
    return Object.fromEntries(
      Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')]),
    );
  }

  private usersOf(name: string): Set<string> {
    const users = this.users.get(name) ?? new Set<string>();
    this.users.set(name, users);
    return users;
  }

  /** One thing at a time for a volume, as drivers may rely on. */
  private locked<T>(name: string, work: () => Promise<T>): Promise<T> {
    const before = this.locks.get(name) ?? Promise.resolve();
    const run = before.then(work, work);
    const settled = run.then(
      () => undefined,
      () => undefined,
    );
    this.locks.set(name, settled);
    void settled.then(() => {
      if (this.locks.get(name) === settled) this.locks.delete(name);
    });
    return run;
  }
}

const attachmentName = (driver: string, handle: string, nodeName: string): string =>
  `csi-${createHash('sha256').update(`${handle}${driver}${nodeName}`).digest('hex')}`;

const accessModes = {
  ReadWriteOnce: 'SINGLE_NODE_WRITER',
  ReadOnlyMany: 'MULTI_NODE_READER_ONLY',
  ReadWriteMany: 'MULTI_NODE_MULTI_WRITER',
  ReadWriteOncePod: 'SINGLE_NODE_WRITER',
} as const;

function capabilityOf({ spec }: PersistentVolume, fsType = ''): VolumeCapability {
  const [mode = 'ReadWriteOnce'] = spec.accessModes ?? [];
  return {
    mount: { fsType, mountFlags: spec.mountOptions ?? [] },
    accessMode: { mode: accessModes[mode] },
  };
}

/** What a driver that asks for it is told of the Pod. */
function podInfo(pod: Pod, object: CSIDriver | undefined, isEphemeral: boolean): Record<string, string> {
  if (!object?.spec.podInfoOnMount) return isEphemeral ? { [`${lifecycle}ephemeral`]: 'true' } : {};
  return {
    [`${lifecycle}pod.name`]: pod.metadata.name,
    [`${lifecycle}pod.namespace`]: pod.metadata.namespace ?? '',
    [`${lifecycle}pod.uid`]: uidOf(pod),
    [`${lifecycle}serviceAccount.name`]: pod.spec.serviceAccountName ?? '',
    [`${lifecycle}ephemeral`]: String(isEphemeral),
  };
}

/** A volume that is staged already is there. */
function ignoreExisting(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  return undefined;
}
