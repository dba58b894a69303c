import type { ServerResponse } from 'node:http';
import { goYaml } from '../endpoints/go-yaml';
import { acceptedFormat } from '../endpoints/negotiation';
import { protobufOf } from '../registry/generic/stored-codec';
import { goJson, wantsPretty } from './go-json';
import { jsonType, PlainNotFound, sendBytes, sendJson, sendPlainError, statusOf } from './respond';

/**
 * Answers with what went wrong, in a form that the client takes; one that takes none gets JSON for human eyes. Source:
 * k8s.io/apiserver/pkg/endpoints/handlers/responsewriters.ErrorNegotiated.
 */
export function sendError(response: ServerResponse, error: unknown): void {
  if (error instanceof PlainNotFound) {
    sendPlainError(response, 404, '404 page not found');
    return;
  }
  const status = statusOf(error);
  const code = status.code ?? 500;
  if (status.details?.retryAfterSeconds && !response.headersSent) {
    response.setHeader('Retry-After', String(status.details.retryAfterSeconds));
  }
  const accepted = acceptedFormat(response.req.headers.accept);
  switch (accepted?.format) {
    case 'json':
      if (wantsPretty(response.req)) sendBytes(response, code, jsonType, goJson(status, 2));
      else sendJson(response, code, status);
      break;
    case 'yaml':
      sendBytes(response, code, accepted.contentType, goYaml(status));
      break;
    case 'protobuf':
      sendBytes(response, code, accepted.contentType, protobufOf(status));
      break;
    case undefined:
      sendBytes(response, code, jsonType, goJson(status, 2));
      break;
  }
}
