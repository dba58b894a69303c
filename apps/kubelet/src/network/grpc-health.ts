import type { Dialer } from '@tinkernetes/vnet';
import { connect } from 'node:http2';
import { withRealDeadline } from './deadline';

export type HealthStatus = 'UNKNOWN' | 'SERVING' | 'NOT_SERVING' | 'SERVICE_UNKNOWN';
const statuses: readonly HealthStatus[] = ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN'];

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
      session.once('error', reject);
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
      const stream = session.request({
        ':method': 'POST',
        ':path': '/grpc.health.v1.Health/Check',
        'content-type': 'application/grpc',
        te: 'trailers',
      });
      const chunks: Buffer[] = [];
      let grpcStatus: string | undefined;
      stream.once('response', (headers) => (grpcStatus = headers['grpc-status'] as string | undefined));
      stream.once('trailers', (headers) => (grpcStatus = headers['grpc-status'] as string | undefined));
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.once('error', reject);
      stream.once('end', () => {
        if (grpcStatus !== undefined && grpcStatus !== '0')
          reject(new Error(`rpc error: code = ${grpcStatus}`));
        else resolve(decodeStatus(Buffer.concat(chunks)));
      });
      stream.end(encodeRequest(service));
    });
  } finally {
    session.destroy();
    socket.destroy();
  }
}

/** HealthCheckRequest { string service = 1; } in gRPC's length-prefixed frame. */
function encodeRequest(service: string): Buffer {
  const name = Buffer.from(service);
  const message = name.length > 0 ? Buffer.concat([Buffer.from([0x0a, name.length]), name]) : Buffer.alloc(0);
  const frame = Buffer.alloc(5);
  frame.writeUInt32BE(message.length, 1);
  return Buffer.concat([frame, message]);
}

/** HealthCheckResponse { ServingStatus status = 1; }; an empty message is UNKNOWN, the enum's zero. */
function decodeStatus(body: Buffer): HealthStatus {
  return (body[5] === 0x08 ? statuses[body[6] ?? 0] : undefined) ?? 'UNKNOWN';
}
