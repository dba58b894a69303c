import { isBuiltin } from 'node:module';
import { Worker } from 'node:worker_threads';
import { StorageUnusableError } from '../types';
import type {
  VersionRow,
  WorkerData,
  WorkerFailure,
  WorkerMessage,
  WorkerRequest,
  WorkerResults,
} from './protocol';
import { applicationId, migrations } from './schema';
import { sqliteWorker } from './worker';

interface Pending {
  resolve(result: unknown): void;
  reject(error: StorageUnusableError): void;
}

/** Calls to the thread that owns the database file. */
export class SqliteWorkerClient {
  private readonly worker: Worker;
  private readonly pending = new Map<number, Pending>();
  private nextId = 1;
  private exited = false;
  onVersions: (rows: VersionRow[]) => void = () => undefined;

  constructor(private readonly file: string) {
    const data: WorkerData = {
      file,
      libsql: isBuiltin('node:sqlite') ? undefined : require.resolve('libsql'),
      applicationId,
      migrations,
    };
    // Bundlers that keep names wrap functions in a helper called __name.
    const source = `const __name = (f) => f; (${sqliteWorker.toString()})(require)`;
    this.worker = new Worker(source, { eval: true, workerData: data, execArgv: [], name: 'storage' });
    this.worker.on('message', (message: WorkerMessage) => this.receive(message));
    this.worker.on('error', (error) => this.abandon(error.message));
    this.worker.on('exit', () => this.abandon('its thread has ended'));
  }

  call<O extends WorkerRequest['op']>(
    request: Extract<WorkerRequest, { op: O }>,
    transfer: ArrayBuffer[] = [],
  ): Promise<WorkerResults[O]> {
    if (this.exited) return Promise.reject(this.unusable({ kind: 'other', message: 'it has been closed' }));
    const id = this.nextId++;
    return new Promise((resolve, reject) => {
      this.pending.set(id, { resolve: resolve as (result: unknown) => void, reject });
      this.worker.postMessage({ id, request }, transfer);
    });
  }

  /** Resolves when the file is closed and the thread is gone. */
  async close(): Promise<void> {
    if (this.exited) return;
    const exit = new Promise<void>((resolve) => this.worker.once('exit', () => resolve()));
    await this.call({ op: 'close' });
    await exit;
  }

  private receive(message: WorkerMessage): void {
    if (message.type === 'versions') {
      this.onVersions(message.rows);
      return;
    }
    const pending = this.pending.get(message.id);
    this.pending.delete(message.id);
    if (message.type === 'done') pending?.resolve(message.result);
    else pending?.reject(this.unusable(message.failure));
  }

  private abandon(reason: string): void {
    this.exited = true;
    const error = this.unusable({ kind: 'other', message: reason });
    for (const { reject } of this.pending.values()) reject(error);
    this.pending.clear();
  }

  private unusable({ kind, message }: WorkerFailure): StorageUnusableError {
    return new StorageUnusableError(`${this.file} ${advice[kind](message)}`);
  }
}

const advice: Record<WorkerFailure['kind'], (message: string) => string> = {
  busy: () => 'is in use by another server: stop that one, or choose another file',
  damaged: (message) =>
    `is damaged (${message}): move it away, with its -wal file, and restore a snapshot or start anew`,
  foreign: (message) => `can't be used (${message}): choose another file`,
  newer: (message) => `was written by a newer version (${message}): start that version`,
  other: (message) => `can't be used (${message}): check that it and its folder are readable and writable`,
};
