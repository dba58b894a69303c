import {
  constants,
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type IncomingHttpHeaders,
} from 'node:http2';
import { realClock, type Timer } from '@tinkernetes/component-base';
import type { Connection } from './connection';
import { FrameReader, frameOf } from './frames';
import {
  contentType,
  metadataHeaders,
  readStatusMessage,
  statusOfHTTP,
  statusOfReset,
  timeoutHeader,
} from './http2-headers';
import { RpcError, statusCodes, statusName, type Metadata } from './status';

export interface CallOptions {
  signal?: AbortSignal;
  /** The call fails with DEADLINE_EXCEEDED after this time; left out or 0: never. */
  timeoutMs?: number;
  metadata?: Metadata;
  /** Waits for somebody to listen instead of failing with UNAVAILABLE. */
  waitForReady?: boolean;
}

export interface ClientCallParts {
  connection: Connection;
  path: string;
  request: Buffer;
  longestMessage: number;
  /** Of the whole client: with it no call begins any more. */
  ended: AbortSignal | undefined;
  onMessage(message: Buffer): void;
  /** Once, after the last message; without an error when the status was OK. */
  onEnd(error: Error | undefined): void;
}

/** One request on its way, and what comes of it. */
export class ClientCall {
  trailers: IncomingHttpHeaders = {};
  private headers: IncomingHttpHeaders = {};
  private stream: ClientHttp2Stream | undefined;
  private timer: Timer | undefined;
  private isOver = false;
  private waiting: AbortController | undefined;
  private readonly onAbort = () => this.cancel(this.options.signal?.reason as Error);

  constructor(
    private readonly parts: ClientCallParts,
    private readonly options: CallOptions,
  ) {}

  begin(): void {
    const { connection, ended } = this.parts;
    const { signal, timeoutMs = 0 } = this.options;
    connection.callBegins();
    if (ended?.aborted) return this.cancel(ended.reason as Error);
    if (signal?.aborted) return this.onAbort();
    signal?.addEventListener('abort', this.onAbort, { once: true });
    if (timeoutMs > 0) {
      const late = () => this.cancel(new RpcError('DEADLINE_EXCEEDED', 'Deadline exceeded'));
      this.timer = realClock.setTimeout(late, timeoutMs);
    }
    if (connection.current) this.send(connection.current);
    else
      this.open().then(
        (session) => this.send(session),
        (error: unknown) => this.end(error as Error),
      );
  }

  /** Lets the other side know that nobody waits any more. */
  cancel(reason: Error): void {
    this.stream?.close(constants.NGHTTP2_CANCEL);
    this.end(reason);
  }

  pause(): void {
    this.stream?.pause();
  }

  resume(): void {
    this.stream?.resume();
  }

  private open(): Promise<ClientHttp2Session> {
    if (!this.options.waitForReady) return this.parts.connection.open();
    this.waiting = new AbortController();
    return this.parts.connection.openWhenPossible(this.waiting.signal);
  }

  private send(session: ClientHttp2Session): void {
    if (this.isOver) return;
    const { path, request, longestMessage } = this.parts;
    const { metadata, timeoutMs = 0 } = this.options;
    let stream: ClientHttp2Stream;
    try {
      stream = this.stream = session.request({
        ':method': 'POST',
        ':path': path,
        te: 'trailers',
        'content-type': contentType,
        ...(timeoutMs > 0 ? { 'grpc-timeout': timeoutHeader(timeoutMs) } : {}),
        ...(metadata ? metadataHeaders(metadata) : {}),
      });
    } catch (error) {
      return this.end(new RpcError('UNAVAILABLE', (error as Error).message, {}, { cause: error }));
    }
    const frames = new FrameReader(longestMessage);
    stream.on('response', (headers) => (this.headers = headers));
    stream.on('trailers', (headers: IncomingHttpHeaders) => (this.trailers = headers));
    stream.on('data', (chunk: Buffer) => this.take(frames, chunk));
    let broken: Error | undefined;
    stream.on('error', (error) => (broken = error));
    stream.on('close', () => this.end(this.outcome(session, stream, broken)));
    stream.end(frameOf(request));
  }

  private take(frames: FrameReader, chunk: Buffer): void {
    if (this.isOver) return;
    try {
      for (const message of frames.push(chunk)) this.parts.onMessage(message);
    } catch (error) {
      this.cancel(error as Error);
    }
  }

  private outcome(
    session: ClientHttp2Session,
    stream: ClientHttp2Stream,
    broken: Error | undefined,
  ): Error | undefined {
    // An answer without messages has its status where others begin.
    if (this.trailers['grpc-status'] === undefined && this.headers['grpc-status'] !== undefined)
      this.trailers = this.headers;
    const code = this.trailers['grpc-status'];
    if (code !== undefined) {
      if (Number(code) === statusCodes.OK) return undefined;
      return new RpcError(statusName(Number(code)), readStatusMessage(this.trailers['grpc-message']));
    }
    if (session.destroyed || session.closed || this.parts.connection.current !== session)
      return new RpcError('UNAVAILABLE', 'Connection dropped', {}, { cause: broken });
    const status = Number(this.headers[':status'] ?? 200);
    if (status !== 200) return new RpcError(statusOfHTTP(status), `Received HTTP status code ${status}`);
    const message = `Received RST_STREAM with code ${stream.rstCode ?? 0}`;
    return new RpcError(statusOfReset(stream.rstCode ?? 0), message, {}, { cause: broken });
  }

  private end(error: Error | undefined): void {
    if (this.isOver) return;
    this.isOver = true;
    this.timer?.cancel();
    this.options.signal?.removeEventListener('abort', this.onAbort);
    this.waiting?.abort(error);
    this.parts.connection.callEnds();
    this.parts.onEnd(error);
  }
}
