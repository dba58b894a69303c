import * as https from 'node:https';
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import { Services, type APIService } from '@tinkernetes/api';
import type { UpgradeTarget } from '@tinkernetes/streaming';
import type { ServerDependencies } from '../contracts';
import type { KubeletConnections } from '../proxy/kubelet-connection';
import { connectToService, type ServiceAddress } from '../proxy/service-connection';
import { answerBody } from '../webhooks/answer-body';
import type { ClientCertificate } from './front-proxy';

const maxAnswerBytes = 64 * 1024 * 1024;
/** As Go's dialer in upstream's proxy transport. */
const dialTimeoutMs = 30_000;

export interface RemoteTools {
  readonly deps: ServerDependencies;
  readonly kubelets: KubeletConnections;
  /** Read when the first server is asked. */
  proxyClient(): Promise<ClientCertificate | undefined>;
}

export interface RemoteAnswer {
  readonly code: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

/** The server behind an APIService's Service: where it is, and connections to it that are kept open. */
export class RemoteServer {
  readonly address: ServiceAddress;
  private readonly agent: https.Agent;

  constructor(
    private readonly tools: RemoteTools,
    private readonly spec: APIService['spec'],
  ) {
    const { namespace = '', name = '', port = 443 } = spec.service ?? {};
    this.address = { namespace, name, port };
    this.agent = new ServiceAgent(() => this.open());
  }

  /** As upstream shows it: at the Service's cluster IP. */
  url(path: string): URL {
    const { namespace, name, port } = this.address;
    const service = this.tools.deps.stores.for(Services).peek(name, namespace);
    const ip = service?.spec?.clusterIP;
    const host = ip && ip !== 'None' ? (ip.includes(':') ? `[${ip}]` : ip) : `${name}.${namespace}.svc`;
    const url = new URL(`https://${host}`);
    url.port = String(port);
    const mark = path.indexOf('?');
    url.pathname = mark < 0 ? path : path.slice(0, mark);
    url.search = mark < 0 ? '' : path.slice(mark);
    return url;
  }

  get connection(): https.RequestOptions {
    return { agent: this.agent };
  }

  async tls(): Promise<NonNullable<UpgradeTarget['tls']>> {
    const { namespace, name } = this.address;
    const { caBundle, insecureSkipTLSVerify } = this.spec;
    return {
      servername: `${name}.${namespace}.svc`,
      ...(caBundle && { ca: Buffer.from(caBundle, 'base64').toString('utf8') }),
      ...(insecureSkipTLSVerify && { rejectUnauthorized: false }),
      ...(await this.tools.proxyClient()),
    };
  }

  /** To one of the Service's endpoints, below TLS. Rejects when there is none in time. */
  async connect(): Promise<Duplex> {
    const { deps, kubelets } = this.tools;
    const cancel = new AbortController();
    const timer = deps.context.clock.setTimeout(() => cancel.abort(new Error('i/o timeout')), dialTimeoutMs, {
      unref: true,
    });
    try {
      return await connectToService(deps, kubelets, { ...this.address, signal: cancel.signal });
    } catch (error) {
      throw cancel.signal.aborted ? cancel.signal.reason : error;
    } finally {
      timer.cancel();
    }
  }

  /** A whole answer. Rejects when there is none in time. */
  async get(path: string, headers: OutgoingHttpHeaders, timeoutMs: number): Promise<RemoteAnswer> {
    const cancel = new AbortController();
    const timer = this.tools.deps.context.clock.setTimeout(
      () => cancel.abort(new Error('context deadline exceeded')),
      timeoutMs,
    );
    try {
      const request = https.request(this.url(path), { headers, signal: cancel.signal, ...this.connection });
      const answer = await new Promise<IncomingMessage>((resolve, reject) => {
        request.once('response', resolve);
        request.once('error', reject);
        request.end();
      });
      return {
        code: answer.statusCode ?? 0,
        headers: answer.headers,
        body: await answerBody(answer, maxAnswerBytes),
      };
    } catch (error) {
      throw cancel.signal.aborted ? cancel.signal.reason : error;
    } finally {
      timer.cancel();
    }
  }

  close(): void {
    this.agent.destroy();
  }

  private async open(): Promise<Duplex> {
    // Before there is a connection that somebody would have to close.
    const tls = await this.tls();
    return connectTls({ ...tls, socket: await this.connect() });
  }
}

/** Keeps connections that are made in another way than by host and port. */
class ServiceAgent extends https.Agent {
  constructor(private readonly open: () => Promise<Duplex>) {
    super({ keepAlive: true, maxFreeSockets: 8 });
  }

  override createConnection(
    _options: https.RequestOptions,
    callback?: (error: Error | null, stream: Duplex) => void,
  ): undefined {
    this.open().then(
      (socket) => callback?.(null, socket),
      // An error comes without a stream, whatever the declaration says.
      (error: unknown) => (callback as ((error: unknown) => void) | undefined)?.(error),
    );
  }
}
