import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, rmdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ignoreMissing } from '../atomic-writer';

type VolumeKey = Pick<VolumeData, 'driverName' | 'volumeHandle' | 'specVolID' | 'volumeMode'>;

/** Where a volume is. */
export interface VolumePlace {
  /** On this node, whichever Pods use it. */
  staging: string;
  /** What is known of it there, for the next kubelet. */
  stagedData: string;
  /** Where the driver shows it to one Pod. */
  target: string;
  publishedData: string;
  /** A block device's path below the Pod's directory. */
  link?: string;
}

/** Beside each mount: what has to be known to take it away again, also after a restart. Source: pkg/volume/csi. */
export interface VolumeData {
  /** Name of the PersistentVolume, or of the Pod's own volume. */
  specVolID: string;
  volumeHandle: string;
  driverName: string;
  nodeName: string;
  attachmentID: string;
  volumeLifecycleMode: 'Persistent' | 'Ephemeral';
  /** Left out: it is mounted. */
  volumeMode?: 'Block';
}

const dataFile = 'vol_data.json';
const plugin = 'kubernetes.io~csi';

/** Where CSI volumes are mounted, in upstream's layout. */
export class CsiPaths {
  constructor(private readonly rootDir: string) {}

  /** Of a volume on this node, whichever Pods use it. */
  private staging(driver: string, handle: string): string {
    const hash = createHash('sha256').update(handle).digest('hex');
    return join(this.stagingRoot, driver, hash, 'globalmount');
  }

  /** Of a volume in one Pod. */
  target(podUID: string, specVolID: string): string {
    return join(this.podVolumes(podUID), specVolID, 'mount');
  }

  /** Where a volume is on this node, and in one Pod. */
  placeOf(podUID: string, { driverName, volumeHandle, specVolID, volumeMode }: VolumeKey): VolumePlace {
    if (volumeMode === 'Block') {
      const data = this.deviceData(specVolID);
      return {
        staging: join(this.devicesRoot, 'staging', specVolID),
        stagedData: data,
        target: join(this.devicesRoot, 'publish', specVolID, podUID),
        publishedData: data,
        link: join(this.podDevices(podUID), specVolID),
      };
    }
    const staging = this.staging(driverName, volumeHandle);
    const target = this.target(podUID, specVolID);
    return { staging, stagedData: besideMount(staging), target, publishedData: besideMount(target) };
  }

  async stagedVolumes(): Promise<VolumeData[]> {
    const volumes = await names(this.devicesRoot);
    const devices = await Promise.all(volumes.map((name) => readVolumeData(this.deviceData(name))));
    const drivers = await names(this.stagingRoot);
    const found = await Promise.all(
      drivers.map(async (driver) => {
        const hashes = await names(join(this.stagingRoot, driver));
        return Promise.all(
          hashes.map((hash) => readVolumeData(join(this.stagingRoot, driver, hash, dataFile))),
        );
      }),
    );
    return [...devices, ...found.flat()].flatMap((data) => data ?? []);
  }

  async publishedIn(podUID: string): Promise<VolumeData[]> {
    const volumes = await names(this.podVolumes(podUID));
    const found = await Promise.all(
      volumes.map((name) => readVolumeData(join(this.podVolumes(podUID), name, dataFile))),
    );
    const links = await names(this.podDevices(podUID));
    const devices = await Promise.all(links.map((name) => readVolumeData(this.deviceData(name))));
    return [...found, ...devices].flatMap((data) => data ?? []);
  }

  /** Pods that have a directory here. */
  podUIDs(): Promise<string[]> {
    return names(join(this.rootDir, 'pods'));
  }

  private get stagingRoot(): string {
    return join(this.rootDir, 'plugins/kubernetes.io/csi');
  }

  /** Of a block volume on this node: what stands beside the mount of others. */
  private deviceData(specVolID: string): string {
    return join(this.devicesRoot, specVolID, 'data', dataFile);
  }

  private get devicesRoot(): string {
    return join(this.stagingRoot, 'volumeDevices');
  }

  private podDevices(podUID: string): string {
    return join(this.rootDir, 'pods', podUID, 'volumeDevices', plugin);
  }

  private podVolumes(podUID: string): string {
    return join(this.rootDir, 'pods', podUID, 'volumes', plugin);
  }
}

async function names(directory: string): Promise<string[]> {
  return (await readdir(directory).catch(ignoreMissing)) ?? [];
}

const besideMount = (mountPath: string): string => join(dirname(mountPath), dataFile);

/** Kept before the driver is asked to mount, so that a crash in between leaves nothing unknown. */
export async function writeVolumeData(file: string, data: VolumeData): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o750 });
  await writeFile(`${file}.new`, JSON.stringify(data));
  await rename(`${file}.new`, file);
}

async function readVolumeData(file: string): Promise<VolumeData | undefined> {
  const text = await readFile(file, 'utf8').catch(ignoreMissing);
  return text === undefined ? undefined : (JSON.parse(text) as VolumeData);
}

/** Makes the Pod's own path of its block device; before the device is there, so that nothing is left unknown. */
export async function linkDevice({ target, link }: VolumePlace): Promise<void> {
  if (!link) return;
  await mkdir(dirname(target), { recursive: true, mode: 0o750 });
  await mkdir(dirname(link), { recursive: true, mode: 0o750 });
  await rm(link, { force: true });
  await symlink(target, link);
}

/** After the driver has taken the volume out of a Pod. Never reaches into what may still be mounted there. */
export async function removePublished({ target, link }: VolumePlace): Promise<void> {
  if (!link) return removeMountPoint(target);
  await rm(target, { force: true });
  await removeEmpty(dirname(target));
  await rm(link, { force: true });
  await removeEmpty(dirname(link));
}

/** After the driver has taken the volume from the node. */
export async function removeStaged({ staging, stagedData, link }: VolumePlace): Promise<void> {
  if (!link) return removeMountPoint(staging);
  await rmdir(staging).catch(ignoreMissing);
  await rm(stagedData, { force: true });
  await removeEmpty(dirname(stagedData));
  await removeEmpty(dirname(dirname(stagedData)));
}

async function removeMountPoint(mountPath: string): Promise<void> {
  await rmdir(mountPath).catch(ignoreMissing);
  await rm(besideMount(mountPath), { force: true });
  await rmdir(dirname(mountPath)).catch(ignoreMissing);
}

async function removeEmpty(directory: string): Promise<void> {
  await rmdir(directory).catch((error: unknown) => {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT' && code !== 'ENOTEMPTY') throw error;
  });
}
