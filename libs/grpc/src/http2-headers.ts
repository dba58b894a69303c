import { constants, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http2';
import type { Metadata, StatusName } from './status';

/** How gRPC's facts are told in HTTP/2's headers: https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md */
export const contentType = 'application/grpc+proto';

const units: Readonly<Record<string, number>> = {
  H: 3_600_000,
  M: 60_000,
  S: 1000,
  m: 1,
  u: 1e-3,
  n: 1e-6,
};
/** More digits than the protocol has room for. */
const longestMs = 99_999_999;

export const timeoutHeader = (ms: number): string =>
  ms > longestMs ? `${Math.min(longestMs, Math.ceil(ms / 1000))}S` : `${Math.max(1, Math.ceil(ms))}m`;

/** Milliseconds; undefined where there is none. */
export function timeoutOf(headers: IncomingHttpHeaders): number | undefined {
  const match = /^(\d{1,8})([HMSmun])$/.exec(String(headers['grpc-timeout'] ?? ''));
  return match ? Number(match[1]) * (units[match[2] ?? ''] ?? 1) : undefined;
}

const isBinary = (name: string): boolean => name.endsWith('-bin');

export function metadataHeaders(metadata: Metadata): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = {};
  for (const [name, value] of Object.entries(metadata))
    headers[name] = typeof value === 'string' ? value : value.toString('base64');
  return headers;
}

/** Undefined where it wasn't sent; of several the first. */
export function metadataValue(headers: IncomingHttpHeaders, name: string): string | Buffer | undefined {
  const value = headers[name];
  const first = Array.isArray(value) ? value[0] : value;
  if (first === undefined || !isBinary(name)) return first;
  return Buffer.from(first.split(',')[0] ?? '', 'base64');
}

/** Headers beyond 64 KiB would end the connection and with it all its calls: a character may take nine bytes. */
const longestText = 4096;

/** Printable ASCII but the percent sign stays as it is; what is too long for a header is cut. */
export const statusMessage = (text: string): string =>
  (text.length > longestText ? `${text.slice(0, longestText)}…` : text).replace(
    /[^\x20-\x24\x26-\x7e]+/gu,
    (part) =>
      [...Buffer.from(part)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(''),
  );

/** As it was sent where it is not encoded as it should be. */
export function readStatusMessage(value: unknown): string {
  const text = String(value ?? '');
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (!(error instanceof URIError)) throw error;
    return text;
  }
}

/** What an answer without a gRPC status means. */
export function statusOfHTTP(code: number | undefined): StatusName {
  switch (code) {
    case 400:
      return 'INTERNAL';
    case 401:
      return 'UNAUTHENTICATED';
    case 403:
      return 'PERMISSION_DENIED';
    case 404:
      return 'UNIMPLEMENTED';
    case 429:
    case 502:
    case 503:
    case 504:
      return 'UNAVAILABLE';
    default:
      return 'UNKNOWN';
  }
}

/** What a stream that was reset means. */
export function statusOfReset(code: number): StatusName {
  switch (code) {
    case constants.NGHTTP2_REFUSED_STREAM:
      return 'UNAVAILABLE';
    case constants.NGHTTP2_CANCEL:
      return 'CANCELLED';
    case constants.NGHTTP2_ENHANCE_YOUR_CALM:
      return 'RESOURCE_EXHAUSTED';
    case constants.NGHTTP2_INADEQUATE_SECURITY:
      return 'PERMISSION_DENIED';
    default:
      return 'INTERNAL';
  }
}
