import { constants, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import { realClock } from '@tinkernetes/component-base';
import { frameOf } from './frames';
import { contentType, metadataHeaders, metadataValue, statusMessage, timeoutOf } from './http2-headers';
import { RpcError, statusCodes, type Metadata } from './status';

/** A call as its handler sees it. */
export class ServerCall {
  private controller: AbortController | undefined;
  private hasBegun = false;

  constructor(
    private readonly stream: ServerHttp2Stream,
    private readonly headers: IncomingHttpHeaders,
  ) {
    // What broke the connection closes the stream, too.
    stream.on('error', () => undefined);
  }

  /** Aborted when the client cancels, its deadline passes, or the server shuts down. */
  get signal(): AbortSignal {
    // Made when first asked for: most handlers never look at it.
    return (this.controller ??= this.watched()).signal;
  }

  /** What the client sent beside the request; of `…-bin` the bytes. */
  metadata(name: string): string | Buffer | undefined {
    return metadataValue(this.headers, name);
  }

  /** Nobody waits for an answer any more. */
  get isOver(): boolean {
    return this.stream.destroyed || this.stream.closed;
  }

  /** Resolves when there is room for the next. */
  async write(message: Buffer): Promise<void> {
    if (this.isOver) return;
    this.begin();
    if (this.stream.write(frameOf(message))) return;
    await new Promise<void>((resolve) => {
      const goOn = () => {
        this.stream.off('drain', goOn).off('close', goOn);
        resolve();
      };
      this.stream.on('drain', goOn).on('close', goOn);
    });
  }

  /** Ends the call with OK; `message`: of a call with one answer. */
  finish(message: Buffer | undefined, trailers: Metadata): void {
    if (this.isOver) return;
    this.begin();
    this.stream.once('wantTrailers', () =>
      this.stream.sendTrailers({ ...metadataHeaders(trailers), 'grpc-status': '0' }),
    );
    if (message) this.stream.end(frameOf(message));
    else this.stream.end();
  }

  fail({ status, message, metadata }: RpcError): void {
    if (this.isOver) return;
    const trailers = {
      ...metadataHeaders(metadata),
      'grpc-status': String(statusCodes[status]),
      'grpc-message': statusMessage(message),
    };
    if (this.hasBegun) {
      this.stream.once('wantTrailers', () => this.stream.sendTrailers(trailers));
      this.stream.end();
    } else {
      const head = { ':status': 200, 'content-type': contentType };
      this.stream.respond({ ...head, ...trailers }, { endStream: true });
    }
  }

  private begin(): void {
    if (this.hasBegun) return;
    this.hasBegun = true;
    this.stream.respond({ ':status': 200, 'content-type': contentType }, { waitForTrailers: true });
  }

  private watched(): AbortController {
    const controller = new AbortController();
    const abort = () => controller.abort(new RpcError('CANCELLED', 'call cancelled'));
    if (this.isOver) abort();
    else {
      const timeoutMs = timeoutOf(this.headers);
      const late = () => controller.abort(new RpcError('DEADLINE_EXCEEDED', 'Deadline exceeded'));
      const timer =
        timeoutMs === undefined ? undefined : realClock.setTimeout(late, timeoutMs, { unref: true });
      this.stream.once('close', () => {
        timer?.cancel();
        // The end of a call that was answered is none that its handler would have to hear of, but does no harm.
        abort();
      });
    }
    return controller;
  }
}

/** Closes a stream that is no gRPC call. */
export function refuse(stream: ServerHttp2Stream, httpStatus: number): void {
  stream.on('error', () => undefined);
  stream.respond({ ':status': httpStatus }, { endStream: true });
  stream.close(constants.NGHTTP2_NO_ERROR);
}
