import type { status } from '@grpc/grpc-js';

/** gRPC's status codes by name. */
export type CsiErrorCode = keyof typeof status;

/** A call that a driver has refused or failed, in its own words. Source: CSI v1, "Error Scheme". */
export class CsiError extends Error {
  override readonly name = 'CsiError';

  constructor(
    readonly code: CsiErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }

  /** As Go prints a gRPC status, which is what Kubernetes puts into events. */
  override toString(): string {
    return `rpc error: code = ${goName(this.code)} desc = ${this.message}`;
  }
}

/** `NOT_FOUND` → `NotFound` */
const goName = (code: CsiErrorCode): string =>
  code === 'OK'
    ? code
    : code === 'CANCELLED'
      ? 'Canceled'
      : code
          .split('_')
          .map((word) => word.charAt(0) + word.slice(1).toLowerCase())
          .join('');

export const isCsiError = (error: unknown, ...codes: readonly CsiErrorCode[]): error is CsiError =>
  error instanceof CsiError && (codes.length === 0 || codes.includes(error.code));
