import type { FileIO } from '../kernel/open-file';
import type { CriLog, LogStream } from './cri-log';

export type OutputListener = (stream: LogStream, data: Buffer) => Promise<void> | void;

/** Where a container's output goes: its log, and everyone who is attached. */
export class Output {
  private readonly listeners = new Set<OutputListener>();

  constructor(private readonly log: CriLog | undefined) {}

  attach(listener: OutputListener): () => void {
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
    if (this.listeners.size === 0) return undefined;
    return Promise.all([...this.listeners].map((listener) => listener(stream, data))).then(() => undefined);
  }
}
