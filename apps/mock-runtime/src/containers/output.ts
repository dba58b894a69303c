import type { FileIO } from '../kernel/open-file';
import type { CriLog, LogStream } from './cri-log';

export type OutputListener = (stream: LogStream, data: Buffer) => Promise<void> | void;

/** What is kept at most for the first client of an interactive container, in bytes. */
const mostEarlyBytes = 64 * 1024;

/** Where a container's output goes: its log, and everyone who is attached. */
export class Output {
  private readonly listeners = new Set<OutputListener>();
  private early: Array<{ stream: LogStream; data: Buffer }> | undefined;
  private earlyBytes = 0;

  /**
   * `interactive`: the container takes input, so that somebody is about to attach. The first who does gets what was
   * written before, too: `kubectl run -i … -- COMMAND` attaches when it sees the Pod running, and a short command has
   * said everything by then.
   */
  constructor(
    private readonly log: CriLog | undefined,
    { interactive = false }: { interactive?: boolean } = {},
  ) {
    if (interactive) this.early = [];
  }

  attach(listener: OutputListener): () => void {
    for (const { stream, data } of this.early ?? []) void listener(stream, data);
    this.early = undefined;
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  writer(stream: LogStream): FileIO {
    return {
      path: `/dev/${stream}`,
      write: (data) => this.write(stream, data),
    };
  }

  private write(stream: LogStream, data: Buffer): Promise<void> | void {
    this.log?.append(stream, data);
    if (this.early && this.earlyBytes < mostEarlyBytes) {
      this.early.push({ stream, data: Buffer.from(data) });
      this.earlyBytes += data.length;
    }
    if (this.listeners.size === 0) return undefined;
    return Promise.all([...this.listeners].map((listener) => listener(stream, data))).then(() => undefined);
  }
}
