import type { Client } from '@tinkernetes/client';
import type { RunContext } from '@tinkernetes/component-base';
import type { RuntimeClient } from '@tinkernetes/cri';
import { refuseUpgrade } from '@tinkernetes/streaming';
import type { Dialer } from '@tinkernetes/vnet';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer as createHttpsServer, type Server as HttpsServer } from 'node:https';
import { createServer, type AddressInfo, type Socket } from 'node:net';
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

type Settings = Pick<
  Options,
  'nodeName' | 'nodeIPs' | 'certDir' | 'clientCAFile' | 'tlsCertFile' | 'tlsPrivateKeyFile'
>;

/** A node that is served, on a port of its own. */
interface Served {
  deps: ServerDeps;
  auth: KubeletAuth;
}

/**
 * The kubelet's HTTPS API: one TLS server for all nodes of the process, which tells them apart by the port that a
 * connection came to. Source: pkg/kubelet/server; webhook authentication and authorization.
 */
export class KubeletEndpoint {
  private readonly byPort = new Map<number, Served>();
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly https: HttpsServer,
    private readonly context: RunContext,
  ) {
    https.on('connection', (socket: Socket) => {
      this.sockets.add(socket);
      socket.once('close', () => this.sockets.delete(socket));
    });
    https.on('request', (request, response) => {
      void this.answer(request, response);
    });
    https.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      void this.upgrade({ request, socket, head });
    });
  }

  static async create(settings: Settings, context: RunContext): Promise<KubeletEndpoint> {
    const { clientCAFile } = settings;
    const [pair, ca] = await Promise.all([
      servingPair(settings, context),
      clientCAFile ? readFile(clientCAFile, 'utf8') : undefined,
    ]);
    const { certificate: cert, key } = pair;
    const https = createHttpsServer({ cert, key, ca, requestCert: true, rejectUnauthorized: false });
    return new KubeletEndpoint(https, context);
  }

  /** Serves a node on its --port. */
  async listen(deps: ServerDeps): Promise<KubeletServer> {
    const { port: wanted, address, nodeName } = deps.options;
    const listener = createServer({ noDelay: true }, (socket) => this.https.emit('connection', socket));
    await new Promise<void>((resolve, reject) => {
      listener.once('error', reject);
      listener.listen(wanted, address, () => {
        listener.off('error', reject);
        resolve();
      });
    });
    const { port } = listener.address() as AddressInfo;
    // The HTTPS server itself listens nowhere: one that closes also closes what is idle, of all nodes. That it begins to
    // listen starts the timeouts of requests.
    if (this.byPort.size === 0) this.https.emit('listening');
    this.byPort.set(port, { deps, auth: new KubeletAuth(deps.client, nodeName, this.context.clock) });
    return {
      port,
      close: () =>
        new Promise((resolve) => {
          this.byPort.delete(port);
          listener.close(() => resolve());
          for (const socket of this.sockets) if (socket.localPort === port) socket.destroy();
          if (this.byPort.size === 0) this.https.close();
        }),
    };
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const url = new URL(request.url ?? '/', 'https://kubelet');
      await serveRequest(await this.admit(request, url), { request, response, url });
    } catch (error) {
      if (response.headersSent) {
        response.destroy(error as Error);
        return;
      }
      const { code, message } = toHttpError(error, this.context);
      response.writeHead(code, { 'content-type': 'text/plain; charset=utf-8' }).end(message);
    }
  }

  private async upgrade(at: { request: IncomingMessage; socket: Duplex; head: Buffer }): Promise<void> {
    // Bytes for the other end must wait until someone reads them.
    at.socket.on('error', () => at.socket.destroy());
    try {
      const url = new URL(at.request.url ?? '/', 'https://kubelet');
      await serveUpgrade(await this.admit(at.request, url), { ...at, url });
    } catch (error) {
      const { code, message } = toHttpError(error, this.context);
      refuseUpgrade(at.socket, code, message);
    }
  }

  /** The node that is asked, if whoever asks may. */
  private async admit(request: IncomingMessage, { pathname }: URL): Promise<ServerDeps> {
    const socket = request.socket as TLSSocket;
    const served = this.byPort.get(socket.localPort ?? 0);
    if (!served) throw new HttpError(503, 'the kubelet is stopping');
    await served.auth.check(request, pathname, socket);
    return served.deps;
  }
}

async function servingPair(settings: Settings, { clock }: RunContext) {
  const { tlsCertFile, tlsPrivateKeyFile, nodeName, certDir } = settings;
  if (tlsCertFile && tlsPrivateKeyFile) {
    return {
      certificate: await readFile(tlsCertFile, 'utf8'),
      key: await readFile(tlsPrivateKeyFile, 'utf8'),
    };
  }
  const addresses = ['127.0.0.1', ...settings.nodeIPs];
  return ensureServingCertificate(certDir, {
    nodeName,
    addresses,
    now: clock.now(),
  });
}

function toHttpError(error: unknown, { logger }: RunContext): { code: number; message: string } {
  if (error instanceof HttpError) return error;
  logger.error({ err: error }, 'request failed');
  return { code: 500, message: error instanceof Error ? error.message : String(error) };
}
