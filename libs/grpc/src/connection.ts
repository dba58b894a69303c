import { connect as connectHttp2, type ClientHttp2Session } from 'node:http2';
import { connect as connectSocket, type Socket } from 'node:net';
import type { Clock } from '@tinkernetes/component-base';
import { RpcError } from './status';

const firstBackoffMs = 50;
const longestBackoffMs = 3000;

/** One HTTP/2 connection to a unix socket, made when it is first needed and again after it has broken. */
export class Connection {
  private session: ClientHttp2Session | undefined;
  private opening: Promise<ClientHttp2Session> | undefined;
  private calls = 0;
  private isClosed = false;

  /** `endpoint`: `unix:///path`. */
  constructor(
    private readonly endpoint: string,
    private readonly clock: Clock,
  ) {}

  /** If it is open. */
  get current(): ClientHttp2Session | undefined {
    return this.session;
  }

  /** Rejects with UNAVAILABLE when nobody listens. */
  open(): Promise<ClientHttp2Session> {
    if (this.session) return Promise.resolve(this.session);
    if (this.isClosed) return Promise.reject(new RpcError('UNAVAILABLE', 'the client is closed'));
    return (this.opening ??= this.connect().finally(() => (this.opening = undefined)));
  }

  /** Tries until somebody listens; rejects when the signal aborts or the connection is closed. */
  async openWhenPossible(signal: AbortSignal): Promise<ClientHttp2Session> {
    for (let waitMs = firstBackoffMs; ; waitMs = Math.min(waitMs * 2, longestBackoffMs)) {
      try {
        return await this.open();
      } catch (error) {
        if (this.isClosed) throw error;
      }
      await this.clock.sleep(waitMs, signal);
    }
  }

  /** The process stays for the sake of calls, not of a connection without any. */
  callBegins(): void {
    if (this.calls++ === 0) this.session?.ref();
  }

  callEnds(): void {
    if (--this.calls === 0) this.session?.unref();
  }

  /** Ends the calls that are under way. */
  close(): void {
    this.isClosed = true;
    this.session?.destroy();
    this.session = undefined;
  }

  private async connect(): Promise<ClientHttp2Session> {
    const socket = await connected(this.endpoint);
    const session = connectHttp2('http://localhost', {
      createConnection: () => socket,
      // Its default would refuse calls beyond some megabytes on their way.
      maxSessionMemory: Number.MAX_SAFE_INTEGER,
    });
    const forget = () => {
      if (this.session === session) this.session = undefined;
    };
    // What broke the session ends its calls, too, which tell it.
    session.on('error', forget);
    session.on('goaway', forget);
    session.on('close', forget);
    if (this.isClosed) {
      session.destroy();
      throw new RpcError('UNAVAILABLE', 'the client is closed');
    }
    if (this.calls === 0) session.unref();
    return (this.session = session);
  }
}

function connected(endpoint: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connectSocket(endpoint.replace(/^unix:(\/\/)?/, ''));
    const failed = (error: Error) => {
      const message = `No connection established. Last error: ${error.message}`;
      reject(new RpcError('UNAVAILABLE', message, {}, { cause: error }));
    };
    socket.once('error', failed);
    socket.once('connect', () => {
      socket.off('error', failed);
      resolve(socket);
    });
  });
}
