import type { ServerResponse } from 'node:http';
import { sendPlainError } from '../server/respond';

const retryAfterSeconds = 1;

/** The answer to who comes while there is too much to do. Source: k8s.io/apiserver/pkg/server/filters. */
export function tooManyRequests(response: ServerResponse): void {
  if (response.headersSent || response.destroyed) return;
  response.setHeader('Retry-After', retryAfterSeconds);
  sendPlainError(response, 429, 'Too many requests, please try again later.');
}
