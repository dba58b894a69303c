/** gRPC's status codes (https://grpc.io/docs/guides/status-codes). */
export const statusCodes = {
  OK: 0,
  CANCELLED: 1,
  UNKNOWN: 2,
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  ALREADY_EXISTS: 6,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  FAILED_PRECONDITION: 9,
  ABORTED: 10,
  OUT_OF_RANGE: 11,
  UNIMPLEMENTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
  DATA_LOSS: 15,
  UNAUTHENTICATED: 16,
} as const;
export type StatusName = keyof typeof statusCodes;

const names = Object.keys(statusCodes) as StatusName[];

/** A code that there is not counts as UNKNOWN. */
export const statusName = (code: number): StatusName => names[code] ?? 'UNKNOWN';

/** Metadata by its lower-case name; what is called `…-bin` is bytes, in base64 on the wire. */
export type Metadata = Readonly<Record<string, string | Buffer>>;

/** A call that did not end with OK. */
export class RpcError extends Error {
  override readonly name = 'RpcError';

  constructor(
    readonly status: StatusName,
    message: string,
    /** What came, or is to go, beside the status. */
    readonly metadata: Metadata = {},
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
