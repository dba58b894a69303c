import { CompactedError, StorageUnusableError } from '../types';
import type { EtcdClient } from './etcd-client';
import type { EtcdEvent, WatchResponse } from './messages';

export interface WatchRange {
  key: Buffer;
  range_end: Buffer;
}

/**
 * Batches of events in the range with revision > `after`, whole revisions in order, until the signal aborts. Rejects
 * with CompactedError when some are gone, and with the transport's error when the stream breaks.
 */
export async function* watchStream(
  client: EtcdClient,
  { range, after, signal }: { range: WatchRange; after: number; signal: AbortSignal },
): AsyncGenerator<EtcdEvent[], void> {
  if (signal.aborted) return;
  const stream = await client.watch();
  // The iteration below rejects with it.
  stream.on('error', () => undefined);
  if (signal.aborted) return stream.cancel();
  const cancel = () => stream.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  // A start right at the compaction would be taken, with an event whose previous value is gone: hence one earlier.
  const start_revision = Math.max(1, after);
  stream.write({ create_request: { ...range, start_revision, progress_notify: false, prev_kv: true } });
  try {
    for await (const response of stream as AsyncIterable<WatchResponse>) {
      const { canceled, compact_revision, cancel_reason, events } = response;
      if (canceled && compact_revision > 0) throw new CompactedError(after, compact_revision);
      if (canceled) throw new StorageUnusableError(`etcd ended a watch: ${cancel_reason}`);
      const fresh = events.filter(({ kv }) => kv.mod_revision > after);
      if (fresh.length > 0) yield fresh;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    signal.removeEventListener('abort', cancel);
    stream.cancel();
  }
}
