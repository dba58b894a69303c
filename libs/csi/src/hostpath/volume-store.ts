import { chmod, mkdir, open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CsiError } from '../csi-error';

/** What the driver knows of a volume; beside its data, so that it outlives every process. */
export interface VolumeRecord {
  volumeId: string;
  capacityBytes: number;
  parameters: Record<string, string>;
  mutableParameters: Record<string, string>;
  /** Ids of the nodes that it is attached to. */
  nodes: string[];
  /** A raw device of its capacity, not a directory. */
  isBlock?: boolean;
  /** Lives and dies with one Pod. */
  ephemeral?: boolean;
}

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';

/** Volumes as directories: `<root>/<volume id>/{volume.json,data}`. */
export class VolumeStore {
  constructor(private readonly root: string) {}

  /** The file that stands for the disk of a block volume. */
  diskOf(volumeId: string): string {
    return join(this.directory(volumeId), 'disk');
  }

  dataOf(volumeId: string): string {
    return join(this.directory(volumeId), 'data');
  }

  async find(volumeId: string): Promise<VolumeRecord | undefined> {
    try {
      return JSON.parse(await readFile(this.file(volumeId), 'utf8')) as VolumeRecord;
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  async get(volumeId: string): Promise<VolumeRecord> {
    const found = await this.find(volumeId);
    if (!found) throw new CsiError('NOT_FOUND', `volume id ${volumeId} does not exist in the volumes list`);
    return found;
  }

  /** Replaces the record at once, never half of it. */
  async put(record: VolumeRecord): Promise<void> {
    const file = this.file(record.volumeId);
    if (record.isBlock) await this.sizeDisk(record);
    else await this.makeData(this.dataOf(record.volumeId));
    await writeFile(`${file}.new`, JSON.stringify(record));
    await rename(`${file}.new`, file);
  }

  /** Any user may write there, whatever the umask says: a Pod needs no fsGroup for it. */
  private async makeData(path: string): Promise<void> {
    if (await mkdir(path, { recursive: true })) await chmod(path, 0o777);
  }

  /** A sparse file: it takes only what is written. It never shrinks. */
  private async sizeDisk({ volumeId, capacityBytes }: VolumeRecord): Promise<void> {
    await mkdir(this.directory(volumeId), { recursive: true, mode: 0o777 });
    const disk = await open(this.diskOf(volumeId), 'a', 0o660);
    try {
      if ((await disk.stat()).size < capacityBytes) await disk.truncate(capacityBytes);
    } finally {
      await disk.close();
    }
  }

  async remove(volumeId: string): Promise<void> {
    await rm(this.directory(volumeId), { recursive: true, force: true });
  }

  private directory(volumeId: string): string {
    if (!/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(volumeId))
      throw new CsiError('INVALID_ARGUMENT', `invalid volume id ${JSON.stringify(volumeId)}`);
    return join(this.root, volumeId);
  }

  private file(volumeId: string): string {
    return join(this.directory(volumeId), 'volume.json');
  }
}
