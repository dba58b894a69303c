import { readFile } from 'node:fs/promises';
import * as https from 'node:https';
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { Nodes } from '@tinkernetes/api';
import { StatusError } from '@tinkernetes/apimachinery';
import type { UpgradeTarget } from '@tinkernetes/streaming';
import type { ServerDependencies } from '../contracts';
import { loadOnce } from '../server/load-once';
import { createHostAliases } from './host-alias';

/** As kubeadm sets `--kubelet-preferred-address-types`. */
const addressTypes = ['InternalIP', 'ExternalIP', 'Hostname'];
const defaultPort = 10250;

/** A kubelet's serving certificate may be self-signed: without a CA to check it against it is not checked, as upstream. */
type KubeletTls = NonNullable<UpgradeTarget['tls']> & { rejectUnauthorized: false };

export interface KubeletLocation {
  /** `https://ADDRESS:PORT`, dialled as the host knows the address. */
  readonly base: URL;
  readonly tls: KubeletTls;
}

export interface DialTarget {
  readonly host: string;
  readonly port: number;
  /** Ends the attempt; a connection that is there stays. */
  readonly signal?: AbortSignal;
}

/** Finds kubelets and speaks to them with the server's client certificate. Source: k8s.io/kubernetes/pkg/kubelet/client. */
export class KubeletConnections {
  private readonly agent = new https.Agent({ keepAlive: true, maxFreeSockets: 16 });
  private readonly alias: (address: string) => string;
  private readonly tls = loadOnce(() => this.loadTls());

  constructor(private readonly deps: ServerDependencies) {
    this.alias = createHostAliases(deps.options.hostAliases);
    deps.context.signal.addEventListener('abort', () => this.agent.destroy(), { once: true });
  }

  async locate(nodeName: string): Promise<KubeletLocation> {
    const node = await this.deps.stores.for(Nodes).get(nodeName);
    const addresses = node.status?.addresses ?? [];
    const address = addressTypes.flatMap((type) => addresses.filter((a) => a.type === type))[0]?.address;
    if (address === undefined)
      throw new StatusError('Unknown', `no preferred addresses found; known addresses: []`, { code: 500 });
    const port = node.status?.daemonEndpoints?.kubeletEndpoint?.Port || defaultPort;
    return { base: this.urlOf('https', address, port), tls: await this.tls() };
  }

  /** `scheme://host:port` of an address, through the host's aliases. */
  urlOf(scheme: string, address: string, port: number): URL {
    const host = this.alias(address);
    return new URL(`${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}`);
  }

  async request(
    nodeName: string,
    path: string,
    options: https.RequestOptions,
  ): Promise<ReturnType<typeof https.request>> {
    const { base, tls } = await this.locate(nodeName);
    return https.request(new URL(path, base), { ...tls, agent: this.agent, ...options });
  }

  /** A connection to an address in the node's network, through its kubelet. */
  async dial(nodeName: string, { host, port, signal }: DialTarget): Promise<Duplex> {
    const query = new URLSearchParams({ host, port: String(port) });
    const request = await this.request(nodeName, `/dial?${query.toString()}`, {
      agent: false,
      ...(signal && { signal }),
      headers: { connection: 'Upgrade', upgrade: 'tcp' },
    });
    return new Promise((resolve, reject) => {
      request.once('error', (error) => reject(unreachable(error)));
      request.once('upgrade', (_response, socket: Duplex, head: Buffer) => {
        if (head.length > 0) socket.unshift(head);
        resolve(socket);
      });
      request.once('response', (response) => {
        response.setEncoding('utf8');
        let text = '';
        response.on('data', (chunk: string) => (text += chunk));
        response.on('end', () => reject(unreachable(new Error(text.trim()))));
      });
      request.end();
    });
  }

  /** A connection to an address that is no Pod's. */
  dialHost({ host, port, signal }: DialTarget): Promise<Duplex> {
    return new Promise((resolve, reject) => {
      const socket = connect({ host: this.alias(host), port });
      const giveUp = () => socket.destroy(signal?.reason as Error);
      signal?.addEventListener('abort', giveUp, { once: true });
      if (signal?.aborted) giveUp();
      socket.once('connect', () => {
        signal?.removeEventListener('abort', giveUp);
        resolve(socket);
      });
      socket.once('error', (error) => reject(unreachable(error)));
    });
  }

  private async loadTls(): Promise<KubeletTls> {
    const { kubeletClient } = this.deps.options;
    if (!kubeletClient) return { rejectUnauthorized: false };
    const [cert, key] = await Promise.all([
      readFile(kubeletClient.certFile, 'utf8'),
      readFile(kubeletClient.keyFile, 'utf8'),
    ]);
    return { cert, key, rejectUnauthorized: false };
  }
}

/** Whoever was to answer did not. */
export const unreachable = (error: Error): StatusError =>
  new StatusError('ServiceUnavailable', `error trying to reach service: ${error.message}`, { cause: error });
