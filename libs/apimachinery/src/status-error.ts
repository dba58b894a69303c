import type { Status, StatusCause, StatusDetails } from '@tinkernetes/api';

/** `Status.reason` → HTTP code. Source: k8s.io/apimachinery/pkg/apis/meta/v1 StatusReason. */
const codeOfReason = {
  BadRequest: 400,
  Unauthorized: 401,
  Forbidden: 403,
  NotFound: 404,
  MethodNotAllowed: 405,
  NotAcceptable: 406,
  AlreadyExists: 409,
  Conflict: 409,
  Gone: 410,
  Expired: 410,
  RequestEntityTooLarge: 413,
  UnsupportedMediaType: 415,
  Invalid: 422,
  TooManyRequests: 429,
  InternalError: 500,
  ServiceUnavailable: 503,
  ServerTimeout: 500,
  Timeout: 504,
  StoreReadError: 500,
  Unknown: 500,
} as const;

export type StatusReason = keyof typeof codeOfReason;

export interface StatusErrorOptions {
  details?: StatusDetails;
  cause?: unknown;
  /** Only where the code is not the reason's own. */
  code?: number;
}

/** The one error that API calls throw, on the server and in clients: it holds a Kubernetes `Status`. */
export class StatusError extends Error {
  override readonly name = 'StatusError';
  readonly code: number;

  constructor(
    readonly reason: StatusReason,
    message: string,
    private readonly options: StatusErrorOptions = {},
  ) {
    super(message, { cause: options.cause });
    this.code = options.code ?? codeOfReason[reason];
  }

  get details(): StatusDetails | undefined {
    return this.options.details;
  }

  get causes(): readonly StatusCause[] {
    return this.options.details?.causes ?? [];
  }

  toStatus(): Status {
    const { details } = this.options;
    return {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: this.message,
      ...(this.reason === 'Unknown' ? {} : { reason: this.reason }),
      ...(details ? { details } : {}),
      code: this.code,
    };
  }

  /** The error that a Status body stands for; `code` is the HTTP status, used where the body has none. */
  static fromStatus(status: Status, code = status.code ?? 500): StatusError {
    const reason = (
      status.reason && status.reason in codeOfReason ? status.reason : 'Unknown'
    ) as StatusReason;
    return new StatusError(reason, status.message ?? `the server answered ${code}`, {
      details: status.details,
      code: status.code ?? code,
    });
  }
}

const hasReason = (error: unknown, ...reasons: StatusReason[]): error is StatusError =>
  error instanceof StatusError && reasons.includes(error.reason);

export const isNotFound = (error: unknown): error is StatusError => hasReason(error, 'NotFound');
export const isAlreadyExists = (error: unknown): error is StatusError => hasReason(error, 'AlreadyExists');
export const isConflict = (error: unknown): error is StatusError => hasReason(error, 'Conflict');
export const isInvalid = (error: unknown): error is StatusError => hasReason(error, 'Invalid');
/** The resourceVersion asked for is no longer kept: list again. */
export const isExpired = (error: unknown): error is StatusError => hasReason(error, 'Expired', 'Gone');
export const isTooManyRequests = (error: unknown): error is StatusError =>
  hasReason(error, 'TooManyRequests');

/** For a promise's `catch`: what is gone is as it should be, or undefined. */
export const ignoreNotFound = (error: unknown): undefined => {
  if (!isNotFound(error)) throw error;
  return undefined;
};
