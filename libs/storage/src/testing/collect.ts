import type { KeyValue, Storage, StorageEvent } from '../types';

export const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
export const text = (item: KeyValue | undefined): string | undefined =>
  item && new TextDecoder().decode(item.value);

/** Collects a watch in the background. */
export class WatchRecording {
  readonly events: StorageEvent[] = [];
  /** Everything up to here has been reported. */
  revision: number;
  readonly ended: Promise<void>;
  private readonly controller = new AbortController();
  private waiters: { revision: number; resolve: () => void }[] = [];

  constructor(storage: Storage, prefix: string, afterRevision: number) {
    this.revision = afterRevision;
    this.ended = this.run(storage.watch(prefix, { afterRevision, signal: this.controller.signal }));
    // A refusal is reported to whoever awaits `ended` or `reached`.
    this.ended.catch(() => undefined);
  }

  /** Resolves when all up to `revision` has been seen; rejects when the watch ends before. */
  async reached(revision: number): Promise<this> {
    if (this.revision < revision) {
      const seen = new Promise<void>((resolve) => this.waiters.push({ revision, resolve }));
      await Promise.race([
        seen,
        this.ended.then(() => {
          throw new Error(`the watch ended at revision ${this.revision}, before ${revision}`);
        }),
      ]);
    }
    return this;
  }

  stop(): Promise<void> {
    this.controller.abort();
    return this.ended;
  }

  private async run(batches: ReturnType<Storage['watch']>): Promise<void> {
    for await (const batch of batches) {
      if (batch.kind === 'events') this.events.push(...batch.events);
      if (batch.revision < this.revision) throw new Error(`revision went back to ${batch.revision}`);
      this.revision = batch.revision;
      const due = this.waiters.filter((waiter) => waiter.revision <= this.revision);
      this.waiters = this.waiters.filter((waiter) => waiter.revision > this.revision);
      for (const { resolve } of due) resolve();
    }
  }
}

/** `PUT /a=1@2` and the like, for comparing. */
export function describeEvent({ type, key, revision, current, previous }: StorageEvent): string {
  const was = previous ? ` was ${text(previous)}@${previous.modRevision}` : '';
  return type === 'PUT' ? `PUT ${key}=${text(current)}@${revision}${was}` : `DELETE ${key}@${revision}${was}`;
}
