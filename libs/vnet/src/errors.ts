import { status } from '@grpc/grpc-js';

/** The error codes of a failed connection, as Node's `net` names them. */
export type NetErrorCode = 'ECONNREFUSED' | 'ETIMEDOUT' | 'EHOSTUNREACH' | 'ECONNRESET' | 'EADDRINUSE';

const words: Record<NetErrorCode, string> = {
  ECONNREFUSED: 'connection refused',
  ETIMEDOUT: 'i/o timeout',
  EHOSTUNREACH: 'no route to host',
  ECONNRESET: 'connection reset by peer',
  EADDRINUSE: 'address already in use',
};

/** A connection that failed. `code` is what `net.connect` reports; the message is worded as Go words it. */
export class NetError extends Error {
  override readonly name = 'NetError';

  constructor(
    readonly code: NetErrorCode,
    /** `dial tcp 10.244.1.2:80: connect`. */
    readonly operation: string,
    options?: ErrorOptions,
  ) {
    super(`${operation}: ${words[code]}`, options);
  }
}

const statusOf: Record<NetErrorCode, status> = {
  ECONNREFUSED: status.FAILED_PRECONDITION,
  ETIMEDOUT: status.DEADLINE_EXCEEDED,
  EHOSTUNREACH: status.NOT_FOUND,
  ECONNRESET: status.ABORTED,
  EADDRINUSE: status.ALREADY_EXISTS,
};

/** How a NetError travels on the vnet socket. */
export function toStatus(error: unknown): { code: status; details: string } {
  if (error instanceof NetError) return { code: statusOf[error.code], details: error.operation };
  return { code: status.UNKNOWN, details: error instanceof Error ? error.message : String(error) };
}

export function fromStatus(error: { code: status; details: string }): Error {
  const code = (Object.keys(statusOf) as NetErrorCode[]).find((name) => statusOf[name] === error.code);
  return code
    ? new NetError(code, error.details, { cause: error })
    : new Error(error.details, { cause: error });
}
