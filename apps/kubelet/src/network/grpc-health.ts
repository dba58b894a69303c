import { readStatusMessage } from '@tinkernetes/grpc';
import type { Dialer } from '@tinkernetes/vnet';
import { connect, type IncomingHttpHeaders } from 'node:http2';
import { withRealDeadline } from './deadline';

export type HealthStatus = 'UNKNOWN' | 'SERVING' | 'NOT_SERVING' | 'SERVICE_UNKNOWN';
const statuses: readonly HealthStatus[] = ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN'];

/** By gRPC's numbers, in Go's words. */
const codes = [
  'OK',
  'Canceled',
  'Unknown',
  'InvalidArgument',
  'DeadlineExceeded',
  'NotFound',
  'AlreadyExists',
  'PermissionDenied',
  'ResourceExhausted',
  'FailedPrecondition',
  'Aborted',
  'OutOfRange',
  'Unimplemented',
  'Internal',
  'Unavailable',
  'DataLoss',
  'Unauthenticated',
] as const;
export type HealthRPCCode = (typeof codes)[number];

/** The server answered, but not the question. */
export class HealthRPCError extends Error {
  override readonly name = 'HealthRPCError';

  constructor(
    readonly code: HealthRPCCode,
    readonly description: string,
  ) {
    super(`rpc error: code = ${code} desc = ${description}`);
  }
}

/** The server is there, but has not answered in time. */
export class HealthTimeoutError extends Error {
  override readonly name = 'HealthTimeoutError';
}

export interface HealthCheck {
  host: string;
  port: number;
  service: string;
  timeoutMs: number;
}

/**
 * grpc.health.v1.Health/Check over a connection of our own, as gRPC libraries dial for themselves.
 * Source: https://github.com/grpc/grpc/blob/master/doc/health-checking.md
 */
export function grpcHealth(dialer: Dialer, check: HealthCheck): Promise<HealthStatus> {
  return withRealDeadline(check.timeoutMs, (signal) => ask(dialer, check, signal));
}

async function ask(
  dialer: Dialer,
  { host, port, service, timeoutMs }: HealthCheck,
  signal: AbortSignal,
): Promise<HealthStatus> {
  const socket = await dialer.dial({ host, port, signal, timeoutMs });
  const session = connect(`http://${host}`, { createConnection: () => socket });
  try {
    return await new Promise<HealthStatus>((resolve, reject) => {
      session.on('error', reject);
      let isConnected = false;
      session.once('remoteSettings', () => (isConnected = true));
      const onAbort = () =>
        reject(isConnected ? new HealthTimeoutError('no answer in time') : (signal.reason as Error));
      signal.addEventListener('abort', onAbort, { once: true });
      const stream = session.request({
        ':method': 'POST',
        ':path': '/grpc.health.v1.Health/Check',
        'content-type': 'application/grpc',
        te: 'trailers',
      });
      const chunks: Buffer[] = [];
      let failure: HealthRPCError | undefined;
      const readStatus = (headers: IncomingHttpHeaders) => (failure ??= failureOf(headers));
      stream.once('response', readStatus).once('trailers', readStatus);
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('error', reject);
      stream.once('end', () => {
        if (failure) reject(failure);
        else resolve(decodeStatus(Buffer.concat(chunks)));
      });
      stream.end(encodeRequest(service));
    });
  } finally {
    session.destroy();
    socket.destroy();
  }
}

/** Without a body the status is among the headers, else among the trailers. */
function failureOf(headers: IncomingHttpHeaders): HealthRPCError | undefined {
  const { 'grpc-status': status, 'grpc-message': message = '' } = headers;
  if (status === undefined || status === '0') return undefined;
  return new HealthRPCError(codes[Number(status)] ?? 'Unknown', readStatusMessage(message));
}

/** HealthCheckRequest { string service = 1; } in gRPC's length-prefixed frame. */
function encodeRequest(service: string): Buffer {
  const name = Buffer.from(service);
  // Seven bits a byte: names have less than 16 KiB.
  const length = name.length < 0x80 ? [name.length] : [0x80 | (name.length & 0x7f), name.length >> 7];
  const message = name.length > 0 ? Buffer.concat([Buffer.from([0x0a, ...length]), name]) : Buffer.alloc(0);
  const frame = Buffer.alloc(5);
  frame.writeUInt32BE(message.length, 1);
  return Buffer.concat([frame, message]);
}

/** HealthCheckResponse { ServingStatus status = 1; }; an empty message is UNKNOWN, the enum's zero. */
function decodeStatus(body: Buffer): HealthStatus {
  return (body[5] === 0x08 ? statuses[body[6] ?? 0] : undefined) ?? 'UNKNOWN';
}
