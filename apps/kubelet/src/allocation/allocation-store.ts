import type { ResourceRequirements } from '@tinkernetes/api';
import type { Logger } from '@tinkernetes/component-base';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { createHash } from 'node:crypto';

/** Container name → what it has been given. */
export type Allocation = Readonly<Record<string, ResourceRequirements>>;

interface Checkpoint {
  data: Record<string, Allocation>;
  checksum: string;
}

/**
 * The allocations that differ from what the Pods' specs ask for, in a file, so that a restarted kubelet gives nobody more
 * than there is. Source: pkg/kubelet/allocation/state, which keeps those of all Pods.
 */
export class AllocationStore {
  private readonly data: Map<string, Allocation>;

  constructor(
    private readonly file: string,
    private readonly logger: Logger,
  ) {
    this.data = new Map(Object.entries(this.read()));
  }

  get(uid: string): Allocation | undefined {
    return this.data.get(uid);
  }

  set(uid: string, allocation: Allocation): void {
    if (JSON.stringify(this.data.get(uid)) === JSON.stringify(allocation)) return;
    this.data.set(uid, allocation);
    this.write();
  }

  delete(uid: string): void {
    if (this.data.delete(uid)) this.write();
  }

  private read(): Record<string, Allocation> {
    let text: string;
    try {
      text = readFileSync(this.file, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') this.ignore(error);
      return {};
    }
    try {
      const { data, checksum } = JSON.parse(text) as Checkpoint;
      if (checksum !== checksumOf(data)) throw new Error('the checksum does not match');
      return data;
    } catch (error) {
      this.ignore(error);
      return {};
    }
  }

  /** Without it Pods have what their specs ask for; the node goes on. */
  private ignore(error: unknown): void {
    this.logger.error(
      { err: error, file: this.file },
      'the checkpoint of allocated resources is damaged and ignored',
    );
  }

  private write(): void {
    const data = Object.fromEntries(this.data);
    try {
      mkdirSync(dirname(this.file), { recursive: true });
      const checkpoint: Checkpoint = { data, checksum: checksumOf(data) };
      writeFileSync(`${this.file}.tmp`, JSON.stringify(checkpoint));
      renameSync(`${this.file}.tmp`, this.file);
    } catch (error) {
      this.logger.error({ err: error, file: this.file }, 'allocated resources are not saved');
    }
  }
}

const checksumOf = (data: object): string => createHash('sha256').update(JSON.stringify(data)).digest('hex');
