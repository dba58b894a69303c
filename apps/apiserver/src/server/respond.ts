import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import type { Status } from '@tinkernetes/api';
import { StatusError } from '@tinkernetes/apimachinery';
import type { ApiRequest } from '../contracts';
import { goJson, indentedJson, wantsPretty } from './go-json';

export const jsonType = 'application/json';

/** One complete answer of known length. */
export function sendBytes(
  response: ServerResponse,
  code: number,
  contentType: string,
  bytes: Buffer | string,
): void {
  if (response.headersSent || response.destroyed) return;
  const length = typeof bytes === 'string' ? Buffer.byteLength(bytes) : bytes.length;
  response.writeHead(code, { 'Content-Type': contentType, 'Content-Length': length });
  response.end(response.req.method === 'HEAD' ? undefined : bytes);
}

/** An answer in the form that was negotiated; JSON is indented for who reads it as it is. */
export function sendNegotiated(
  response: ServerResponse,
  code: number,
  { format, contentType }: { format: string; contentType: string },
  bytes: Buffer,
): void {
  const isPretty = format === 'json' && wantsPretty(response.req);
  sendBytes(response, code, contentType, isPretty ? indentedJson(bytes.toString('utf8')) : bytes);
}

export const sendJson = (response: ServerResponse, code: number, value: object): void =>
  sendBytes(response, code, jsonType, `${goJson(value)}\n`);

export const sendText = (response: ServerResponse, code: number, text: string): void =>
  sendBytes(response, code, 'text/plain; charset=utf-8', text);

export interface HashedDocument {
  readonly bytes: Buffer;
  readonly hash: string;
  readonly contentType: string;
}

export const hashOf = (bytes: Buffer): string =>
  createHash('sha512').update(bytes).digest('hex').toUpperCase();

/** Shorter documents are sent as they are. */
const leastCompressed = 1400;
const compress = promisify(gzip);
const compressed = new WeakMap<Buffer, Promise<Buffer>>();

/** A document that clients keep: who has this one is told that it is still good. It is compressed once for all. */
export async function sendWithETag(
  { raw, response }: Pick<ApiRequest, 'raw' | 'response'>,
  { bytes, hash, contentType }: HashedDocument,
): Promise<void> {
  const etag = `"${hash}"`;
  response.setHeader('ETag', etag);
  response.setHeader('Vary', 'Accept');
  if (raw.headers['if-none-match'] === etag) {
    response.writeHead(304).end();
    return;
  }
  const takesGzip = /\bgzip\b/.test(String(raw.headers['accept-encoding'] ?? ''));
  if (!takesGzip || bytes.length < leastCompressed) {
    sendBytes(response, 200, contentType, bytes);
    return;
  }
  let smaller = compressed.get(bytes);
  if (!smaller) compressed.set(bytes, (smaller = compress(bytes, { level: constants.Z_BEST_SPEED })));
  response.setHeader('Content-Encoding', 'gzip');
  sendBytes(response, 200, contentType, await smaller);
}

/** What Go's http.Error answers. */
export function sendPlainError(response: ServerResponse, code: number, text: string): void {
  response.setHeader('X-Content-Type-Options', 'nosniff');
  sendText(response, code, `${text}\n`);
}

/** What goes wrong as a Status; anything unforeseen is a 500 with its message. */
export function statusOf(error: unknown): Status {
  if (error instanceof StatusError) return error.toStatus();
  const message = error instanceof Error ? error.message : String(error);
  return new StatusError('InternalError', `Internal error occurred: ${message}`, {
    details: { causes: [{ message }] },
    cause: error,
  }).toStatus();
}

/** The answer where a path leads nowhere that is an API. */
export class PlainNotFound extends Error {
  override readonly name = 'PlainNotFound';
}
