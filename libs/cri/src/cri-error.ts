import type { StatusName } from '@tinkernetes/grpc';

/** gRPC's status codes by name. */
export type CriErrorCode = StatusName;

/**
 * A CRI call that failed. The message is the runtime's own text, as Kubernetes shows it in events and container
 * statuses. Source: CRI v1, gRPC status codes.
 */
export class CriError extends Error {
  override readonly name = 'CriError';

  constructor(
    readonly code: CriErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }

  /** As Go prints a gRPC status, which is what upstream's kubelet puts into its messages. */
  override toString(): string {
    return `rpc error: code = ${goNames[this.code]} desc = ${this.message}`;
  }
}

const goNames: Record<CriErrorCode, string> = {
  OK: 'OK',
  CANCELLED: 'Canceled',
  UNKNOWN: 'Unknown',
  INVALID_ARGUMENT: 'InvalidArgument',
  DEADLINE_EXCEEDED: 'DeadlineExceeded',
  NOT_FOUND: 'NotFound',
  ALREADY_EXISTS: 'AlreadyExists',
  PERMISSION_DENIED: 'PermissionDenied',
  RESOURCE_EXHAUSTED: 'ResourceExhausted',
  FAILED_PRECONDITION: 'FailedPrecondition',
  ABORTED: 'Aborted',
  OUT_OF_RANGE: 'OutOfRange',
  UNIMPLEMENTED: 'Unimplemented',
  INTERNAL: 'Internal',
  UNAVAILABLE: 'Unavailable',
  DATA_LOSS: 'DataLoss',
  UNAUTHENTICATED: 'Unauthenticated',
};

export function isCriError(error: unknown, ...codes: readonly CriErrorCode[]): error is CriError {
  return error instanceof CriError && (codes.length === 0 || codes.includes(error.code));
}
