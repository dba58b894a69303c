import { realClock, withDeadline, withLinkedSignal } from '@tinkernetes/component-base';
import type { IncomingMessage, RequestOptions } from 'node:http';
import { text } from 'node:stream/consumers';

export interface TlsMaterial {
  insecure: boolean;
  serverName: string | undefined;
  /** PEM. */
  cert: string | undefined;
  key: string | undefined;
  ca: string | undefined;
}
export interface ConnectionOptions {
  urlPrefix: string;
  timeoutMs: number;
  tls: TlsMaterial | undefined;
}

/** Posts JSON to an extender over connections that are kept. */
export class ExtenderConnection {
  private agent: RequestOptions['agent'];

  constructor(private readonly options: ConnectionOptions) {}

  /** Throws when there is no answer in time, or none with status 200 and a JSON body. */
  async call<T>(verb: string, body: object, signal: AbortSignal): Promise<T> {
    const url = `${this.options.urlPrefix.replace(/\/+$/, '')}/${verb}`;
    const { timeoutMs } = this.options;
    const ask = async (either: AbortSignal): Promise<T> => {
      const response = await this.post(url, JSON.stringify(body), either);
      const answer = await text(response);
      if (response.statusCode !== 200)
        throw new Error(`failed ${verb} with extender at URL ${url}, code ${response.statusCode}`);
      return JSON.parse(answer) as T;
    };
    // From the first byte sent to the last one received, as Go's http.Client counts; an extender keeps real time.
    return withDeadline(realClock, timeoutMs, async (late) => {
      try {
        return await withLinkedSignal([signal, late], ask);
      } catch (error) {
        if (!late.aborted) throw error;
        throw new Error(`Post "${url}": no whole answer within ${timeoutMs} ms`, { cause: error });
      }
    });
  }

  private async post(url: string, body: string, signal: AbortSignal): Promise<IncomingMessage> {
    const { request, Agent } = url.startsWith('https:')
      ? await import('node:https')
      : await import('node:http');
    const { tls } = this.options;
    this.agent ??= new Agent({
      keepAlive: true,
      ...(tls && {
        rejectUnauthorized: !tls.insecure,
        servername: tls.serverName,
        cert: tls.cert,
        key: tls.key,
        ca: tls.ca,
      }),
    });
    const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) };
    return new Promise((resolve, reject) => {
      const sent = request(url, { method: 'POST', agent: this.agent, headers, signal });
      sent.once('error', reject);
      sent.once('response', resolve);
      sent.end(body);
    });
  }
}
