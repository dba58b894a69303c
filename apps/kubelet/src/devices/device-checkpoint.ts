import type { Logger } from '@tinkernetes/component-base';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { ContainerAllocateResponse } from './device-plugin-api';

/** What one container has of one resource. */
export interface DeviceAllocation {
  podUID: string;
  container: string;
  resource: string;
  ids: readonly string[];
  response: ContainerAllocateResponse;
}

interface Checkpoint {
  data: { allocations: DeviceAllocation[]; resources: string[] };
  checksum: string;
}

const nothing: Checkpoint['data'] = { allocations: [], resources: [] };

/**
 * Who has which device, in a file, so that a restarted kubelet gives no device to two containers.
 * Source: pkg/kubelet/cm/devicemanager/checkpoint.
 */
export class DeviceCheckpoint {
  constructor(
    private readonly file: string,
    private readonly logger: Logger,
  ) {}

  read(): Checkpoint['data'] {
    try {
      const { data, checksum } = JSON.parse(readFileSync(this.file, 'utf8')) as Checkpoint;
      if (checksum !== checksumOf(data)) throw new Error('the checksum does not match');
      return data;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
        this.logger.error(
          { err: error, file: this.file },
          'the checkpoint of devices is damaged and ignored',
        );
      return nothing;
    }
  }

  write(data: Checkpoint['data']): void {
    try {
      mkdirSync(dirname(this.file), { recursive: true });
      // Plugins give containers secrets, too.
      writeFileSync(`${this.file}.tmp`, JSON.stringify({ data, checksum: checksumOf(data) }), {
        mode: 0o600,
      });
      renameSync(`${this.file}.tmp`, this.file);
    } catch (error) {
      this.logger.error({ err: error, file: this.file }, 'who has which device is not saved');
    }
  }
}

const checksumOf = (data: object): string => createHash('sha256').update(JSON.stringify(data)).digest('hex');
