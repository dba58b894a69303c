import { request, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Process } from '../kernel/process';
import { resolveHost } from './resolver';

export interface HttpRequest {
  url: URL;
  method: string;
  headers: Record<string, string>;
  body?: Buffer;
  /** Certificate authorities in PEM; undefined: none is trusted. */
  ca?: string;
  insecure?: boolean;
  timeoutMs?: number;
  /** Called with the address before connecting. */
  connecting?: (address: string, port: number) => Promise<void> | void;
}

/** Sends a request over the container's network; resolves with the response's head. */
export async function sendHttp(process: Process, options: HttpRequest): Promise<IncomingMessage> {
  const { url, method, headers, body, timeoutMs } = options;
  const secure = url.protocol === 'https:';
  const port = Number(url.port || (secure ? 443 : 80));
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const address = await resolveHost(process, host);
  await options.connecting?.(address, port);
  const { stream } = await process.net.connect({ host: address, port, signal: process.signal, timeoutMs });
  process.signal.addEventListener('abort', () => stream.destroy(), { once: true });
  const connection = secure ? await overTls(stream, host, options) : stream;
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        createConnection: () => connection as never,
        host,
        port,
        method,
        path: `${url.pathname}${url.search}`,
        headers: { Host: url.host, ...headers, Connection: 'close' },
        setHost: false,
      },
      resolve,
    );
    sent.once('error', reject);
    if (timeoutMs !== undefined) sent.setTimeout(timeoutMs, () => sent.destroy(new Error('timed out')));
    sent.end(body);
  });
}

async function overTls(stream: Duplex, host: string, { ca, insecure }: HttpRequest): Promise<Duplex> {
  const { connect } = await import('node:tls');
  return new Promise((resolve, reject) => {
    const socket = connect({
      socket: stream,
      servername: /^[\d.]+$/.test(host) ? undefined : host,
      host,
      ca,
      rejectUnauthorized: !insecure,
    });
    socket.once('secureConnect', () => resolve(socket));
    socket.once('error', reject);
  });
}
