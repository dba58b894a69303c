import type { Status } from '@tinkernetes/api';
import { StatusError, type StatusReason } from '@tinkernetes/apimachinery';

/** Reasons for answers without a Status body (a proxy's, a load balancer's). Source: apimachinery errors.NewGenericServerResponse. */
const reasonOfCode: Record<number, StatusReason> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  406: 'NotAcceptable',
  409: 'Conflict',
  410: 'Gone',
  413: 'RequestEntityTooLarge',
  415: 'UnsupportedMediaType',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};

/** The error for an answer outside 2xx. */
export function statusErrorOf(
  code: number,
  body: string,
  request: { method: string; path: string },
): StatusError {
  const status = parseStatus(body);
  if (status) return StatusError.fromStatus(status, code);
  const shown = body.trim().slice(0, 1024);
  return new StatusError(
    reasonOfCode[code] ?? 'Unknown',
    shown || `the server answered ${code} to ${request.method} ${request.path}`,
    { code },
  );
}

function parseStatus(body: string): Status | undefined {
  if (!body.startsWith('{')) return undefined;
  try {
    const value = JSON.parse(body) as Status;
    return value.kind === 'Status' ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
