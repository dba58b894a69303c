import { Duplex } from 'node:stream';
import { fromStatus } from './errors';
import type { Address, Protocol } from './types';

export interface Connection {
  id: string;
  remote: Address;
  local: Address;
}

/** A Frame of vnet.proto; exactly one member is set. */
export interface Frame {
  open?: { protocol?: Protocol; host: string; port: number; netns?: string; timeoutMs?: number };
  opened?: Connection;
  accept?: string;
  data?: Uint8Array;
  end?: boolean;
}

/** The part of a grpc-js bidirectional call that both its client and its server side have. */
export interface FrameCall {
  write(frame: Frame): boolean;
  end(): void;
  pause(): unknown;
  resume(): unknown;
  on(event: 'data', listener: (frame: Frame) => void): unknown;
  on(event: 'end' | 'drain' | 'cancelled', listener: () => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
}

export interface FrameDuplexOptions {
  /** Ends the call at once when the stream is destroyed before both directions have ended. */
  cancel: () => void;
}

/** Data frames of one connection as a Duplex: back-pressure both ways, either direction may end first. */
export class FrameDuplex extends Duplex {
  private writeDone: ((error?: Error | null) => void) | undefined;
  private readonly endCall: () => void;
  private readonly cancel: () => void;

  constructor(
    private readonly call: FrameCall,
    { cancel }: FrameDuplexOptions,
  ) {
    super({ allowHalfOpen: true });
    this.cancel = cancel;
    this.endCall = () => call.end();
    call.on('data', (frame) => this.takeFrame(frame));
    call.on('end', () => this.push(null));
    call.on('drain', () => this.releaseWrite());
    call.on('cancelled', () => this.destroy());
    call.on('error', (error) => this.destroy(asNetError(error)));
  }

  private takeFrame(frame: Frame): void {
    if (frame.data) {
      if (!this.push(frame.data)) this.call.pause();
    } else if (frame.end) {
      this.push(null);
    }
  }

  private releaseWrite(): void {
    const done = this.writeDone;
    this.writeDone = undefined;
    done?.();
  }

  override _read(): void {
    this.call.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    if (this.call.write({ data: chunk })) done();
    else this.writeDone = done;
  }

  override _final(done: (error?: Error | null) => void): void {
    this.call.write({ end: true });
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.releaseWrite();
    if (error || !this.readableEnded || !this.writableFinished) this.cancel();
    else this.endCall();
    done(error);
  }
}

function asNetError(error: Error): Error {
  return 'code' in error && typeof error.code === 'number' && 'details' in error
    ? fromStatus(error as Error & { code: number; details: string })
    : error;
}
