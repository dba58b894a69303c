import type { Client } from '@tinkernetes/client';
import type { RunContext } from '@tinkernetes/component-base';
import type { RuntimeClient } from '@tinkernetes/cri';
import { refuseUpgrade } from '@tinkernetes/streaming';
import type { Dialer } from '@tinkernetes/vnet';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { ensureServingCertificate } from '../bootstrap/serving-certificate';
import type { NodeAgent } from '../node-agent';
import type { Options } from '../options';
import { KubeletAuth } from './auth';
import { HttpError } from './http-error';
import { serveRequest, serveUpgrade } from './routes';

export interface ServerDeps {
  options: Options;
  context: RunContext;
  client: Client;
  runtime: RuntimeClient;
  dialer: Dialer;
  /** Undefined until the agent is made. */
  agent(): NodeAgent | undefined;
}

export interface KubeletServer {
  port: number;
  close(): Promise<void>;
}

/** The kubelet's HTTPS API on --port. Source: pkg/kubelet/server; webhook authentication and authorization. */
export async function startServer(deps: ServerDeps): Promise<KubeletServer> {
  const { options, context } = deps;
  const { address, port, clientCAFile } = options;
  const auth = new KubeletAuth(deps.client, options.nodeName, context.clock);
  const [pair, ca] = await Promise.all([
    servingPair(options, context),
    clientCAFile ? readFile(clientCAFile, 'utf8') : undefined,
  ]);
  const server = createServer({
    cert: pair.certificate,
    key: pair.key,
    ca,
    requestCert: true,
    rejectUnauthorized: false,
  });
  const sockets = new Set<Duplex>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.on('request', (request, response) => {
    void answer(request, response);
  });
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    void upgrade({ request, socket, head });
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const url = new URL(request.url ?? '/', 'https://kubelet');
      await auth.check(request, url.pathname, request.socket as TLSSocket);
      await serveRequest(deps, { request, response, url });
    } catch (error) {
      if (response.headersSent) {
        response.destroy(error as Error);
        return;
      }
      const { code, message } = toHttpError(error, context);
      response.writeHead(code, { 'content-type': 'text/plain; charset=utf-8' }).end(message);
    }
  }

  async function upgrade(at: { request: IncomingMessage; socket: Duplex; head: Buffer }): Promise<void> {
    // Bytes for the other end must wait until someone reads them.
    at.socket.on('error', () => at.socket.destroy());
    try {
      const url = new URL(at.request.url ?? '/', 'https://kubelet');
      await auth.check(at.request, url.pathname, at.socket as TLSSocket);
      await serveUpgrade(deps, { ...at, url });
    } catch (error) {
      const { code, message } = toHttpError(error, context);
      refuseUpgrade(at.socket, code, message);
    }
  }

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, address, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

async function servingPair(options: Options, { clock }: RunContext) {
  const { tlsCertFile, tlsPrivateKeyFile } = options;
  if (tlsCertFile && tlsPrivateKeyFile) {
    return {
      certificate: await readFile(tlsCertFile, 'utf8'),
      key: await readFile(tlsPrivateKeyFile, 'utf8'),
    };
  }
  const addresses = ['127.0.0.1', ...options.nodeIPs];
  return ensureServingCertificate(options.certDir, {
    nodeName: options.nodeName,
    addresses,
    now: clock.now(),
  });
}

function toHttpError(error: unknown, { logger }: RunContext): { code: number; message: string } {
  if (error instanceof HttpError) return error;
  logger.error({ err: error }, 'request failed');
  return { code: 500, message: error instanceof Error ? error.message : String(error) };
}
