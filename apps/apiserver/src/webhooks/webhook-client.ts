import * as https from 'node:https';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import type { WebhookClientConfig } from '@tinkernetes/api';
import type { ServerDependencies } from '../contracts';
import { KubeletConnections } from '../proxy/kubelet-connection';
import { connectToService } from '../proxy/service-connection';
import { answerBody } from './answer-body';
import { describeDialError } from './dial-errors';

const maxAnswerBytes = 3 * 1024 * 1024;

export interface WebhookCall {
  readonly config: WebhookClientConfig;
  readonly timeoutMs: number;
  readonly body: object;
  /** Ends the call before its time is over. */
  readonly signal?: AbortSignal;
}

/** An answer that is no success, in the words of upstream's REST client. */
class WebhookStatusError extends Error {
  override readonly name = 'WebhookStatusError';
}

/** Posts JSON to webhooks, at a URL or behind a Service. Source: k8s.io/apiserver/pkg/util/webhook.ClientManager. */
export class WebhookClient {
  private readonly kubelets: KubeletConnections;

  constructor(private readonly deps: ServerDependencies) {
    this.kubelets = new KubeletConnections(deps);
  }

  /** The answer's JSON. Rejects with an Error whose message says what upstream's says. */
  async call({ config, timeoutMs, body, signal }: WebhookCall): Promise<unknown> {
    const { url, servername, connect } = this.target(config);
    url.searchParams.set('timeout', `${timeoutMs / 1000}s`);
    const cancel = new AbortController();
    const onAbort = () => cancel.abort(signal?.reason);
    signal?.addEventListener('abort', onAbort, { once: true });
    if (signal?.aborted) onAbort();
    const timer = this.deps.context.clock.setTimeout(
      () => cancel.abort(new Error('context deadline exceeded')),
      timeoutMs,
    );
    try {
      const answer = await this.post({
        url,
        servername,
        connect,
        ca: config.caBundle,
        body,
        signal: cancel.signal,
      });
      return await readJson(answer);
    } catch (error) {
      if (error instanceof WebhookStatusError) throw error;
      const cause: unknown = cancel.signal.aborted ? cancel.signal.reason : error;
      // A Service's port is always shown, as Go's URLs keep it.
      const shown =
        config.service && url.port === '' ? url.href.replace(servername, `${servername}:443`) : url.href;
      throw new Error(`Post "${shown}": ${describeDialError(cause)}`, { cause });
    } finally {
      timer.cancel();
      signal?.removeEventListener('abort', onAbort);
    }
  }

  private target({ url, service }: WebhookClientConfig): {
    url: URL;
    servername: string;
    connect?: (signal: AbortSignal) => Promise<Duplex>;
  } {
    if (url) {
      const parsed = new URL(url);
      return { url: parsed, servername: parsed.hostname };
    }
    if (!service) throw new Error('webhook configuration must have either service or URL');
    const servername = `${service.name}.${service.namespace}.svc`;
    const port = service.port ?? 443;
    return {
      url: new URL(service.path ?? '/', `https://${servername}:${port}`),
      servername,
      connect: (signal) =>
        connectToService(this.deps, this.kubelets, {
          namespace: service.namespace,
          name: service.name,
          port,
          signal,
        }),
    };
  }

  private async post(options: {
    url: URL;
    servername: string;
    connect: ((signal: AbortSignal) => Promise<Duplex>) | undefined;
    ca: string | undefined;
    body: object;
    signal: AbortSignal;
  }): Promise<IncomingMessage> {
    const { url, servername, signal } = options;
    const bytes = Buffer.from(JSON.stringify(options.body));
    const tls = {
      ...(options.ca && { ca: Buffer.from(options.ca, 'base64').toString('utf8') }),
      // SNI knows no addresses.
      ...(/^[\d.]+$|:/.test(servername) ? undefined : { servername }),
    };
    const socket = await options.connect?.(signal);
    const request = https.request(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, */*',
        'content-length': bytes.length,
      },
      signal,
      ...tls,
      ...(socket ? { createConnection: () => connectTls({ ...tls, socket }) } : { agent: false }),
    });
    return new Promise((resolve, reject) => {
      request.once('response', resolve);
      request.once('error', reject);
      request.end(bytes);
    });
  }
}

async function readJson(answer: IncomingMessage): Promise<unknown> {
  const text = (await answerBody(answer, maxAnswerBytes)).toString('utf8');
  const code = answer.statusCode ?? 0;
  if (code < 200 || code > 206) throw new WebhookStatusError(refusal(code, text));
  return JSON.parse(text);
}

/** Source: k8s.io/apimachinery/pkg/api/errors.NewGenericServerResponse. */
function refusal(code: number, text: string): string {
  switch (code) {
    case 400:
      return 'the server rejected our request for an unknown reason';
    case 401:
      return 'the server has asked for the client to provide credentials';
    case 404:
      return 'the server could not find the requested resource';
    case 405:
      return 'the server does not allow this method on the requested resource';
    case 503:
      return 'the server is currently unable to handle the request';
    default:
      return code >= 500
        ? `an error on the server (${JSON.stringify(text.trim() || 'unknown')}) has prevented the request from being successful`
        : `the server responded with the status code ${code} but did not return more information`;
  }
}
