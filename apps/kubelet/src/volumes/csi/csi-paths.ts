import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, rmdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ignoreMissing } from '../atomic-writer';

/** Beside each mount: what has to be known to take it away again, also after a restart. Source: pkg/volume/csi. */
export interface VolumeData {
  /** Name of the PersistentVolume, or of the Pod's own volume. */
  specVolID: string;
  volumeHandle: string;
  driverName: string;
  nodeName: string;
  attachmentID: string;
  volumeLifecycleMode: 'Persistent' | 'Ephemeral';
}

const dataFile = 'vol_data.json';
const plugin = 'kubernetes.io~csi';

/** Where CSI volumes are mounted, in upstream's layout. */
export class CsiPaths {
  constructor(private readonly rootDir: string) {}

  /** Of a volume on this node, whichever Pods use it. */
  staging(driver: string, handle: string): string {
    const hash = createHash('sha256').update(handle).digest('hex');
    return join(this.stagingRoot, driver, hash, 'globalmount');
  }

  /** Of a volume in one Pod. */
  target(podUID: string, specVolID: string): string {
    return join(this.podVolumes(podUID), specVolID, 'mount');
  }

  async stagedVolumes(): Promise<VolumeData[]> {
    const drivers = await names(this.stagingRoot);
    const found = await Promise.all(
      drivers.map(async (driver) => {
        const hashes = await names(join(this.stagingRoot, driver));
        return Promise.all(
          hashes.map((hash) => readVolumeData(join(this.stagingRoot, driver, hash, 'globalmount'))),
        );
      }),
    );
    return found.flat().flatMap((data) => data ?? []);
  }

  async publishedIn(podUID: string): Promise<VolumeData[]> {
    const volumes = await names(this.podVolumes(podUID));
    const found = await Promise.all(
      volumes.map((name) => readVolumeData(join(this.podVolumes(podUID), name, 'mount'))),
    );
    return found.flatMap((data) => data ?? []);
  }

  /** Pods that have a directory here. */
  podUIDs(): Promise<string[]> {
    return names(join(this.rootDir, 'pods'));
  }

  private get stagingRoot(): string {
    return join(this.rootDir, 'plugins/kubernetes.io/csi');
  }

  private podVolumes(podUID: string): string {
    return join(this.rootDir, 'pods', podUID, 'volumes', plugin);
  }
}

async function names(directory: string): Promise<string[]> {
  return (await readdir(directory).catch(ignoreMissing)) ?? [];
}

/** Kept before the driver is asked to mount, so that a crash in between leaves nothing unknown. */
export async function writeVolumeData(mountPath: string, data: VolumeData): Promise<void> {
  const file = join(dirname(mountPath), dataFile);
  await mkdir(dirname(mountPath), { recursive: true, mode: 0o750 });
  await writeFile(`${file}.new`, JSON.stringify(data));
  await rename(`${file}.new`, file);
}

async function readVolumeData(mountPath: string): Promise<VolumeData | undefined> {
  const text = await readFile(join(dirname(mountPath), dataFile), 'utf8').catch(ignoreMissing);
  return text === undefined ? undefined : (JSON.parse(text) as VolumeData);
}

/** Never reaches into what may still be mounted there. */
export async function removeMountPoint(mountPath: string): Promise<void> {
  await rmdir(mountPath).catch(ignoreMissing);
  await rm(join(dirname(mountPath), dataFile), { force: true });
  await rmdir(dirname(mountPath)).catch(ignoreMissing);
}
