import { createServer, type ServerResponse } from 'node:http';
import { withLinkedSignal, type Logger } from '@tinkernetes/component-base';
import type { VnetClient } from '@tinkernetes/vnet';
import type { HealthCheck } from './health-checks';

export interface HealthCheckNodePortsDeps {
  vnet: VnetClient;
  logger: Logger;
  /** Closes all ports. */
  signal: AbortSignal;
  /** Whether the rules are up to date. */
  isHealthy: () => boolean;
}

interface Open {
  check: HealthCheck;
  closing: AbortController;
}

/** Answers load balancers on the node's own ports: 200 while the Service has endpoints on this node, else 503. */
export class HealthCheckNodePorts {
  private readonly open = new Map<number, Open>();

  constructor(private readonly deps: HealthCheckNodePortsDeps) {}

  apply(checks: readonly HealthCheck[]): void {
    const wanted = new Set(checks.map((check) => check.port));
    for (const [port, { closing }] of this.open) {
      if (wanted.has(port)) continue;
      closing.abort(new Error('the Service has changed'));
      this.open.delete(port);
    }
    for (const check of checks) {
      const known = this.open.get(check.port);
      if (known) known.check = check;
      else void this.serve(check);
    }
  }

  private async serve(check: HealthCheck): Promise<void> {
    const { vnet, logger, signal } = this.deps;
    const entry: Open = { check, closing: new AbortController() };
    this.open.set(check.port, entry);
    const server = createServer((_request, response) => this.answer(entry.check, response));
    try {
      await withLinkedSignal([signal, entry.closing.signal], async (closed) => {
        const { connections } = await vnet.listen({ port: check.port, signal: closed });
        for await (const { stream } of connections) server.emit('connection', stream);
      });
    } catch (error) {
      if (signal.aborted || entry.closing.signal.aborted) return;
      logger.warn({ err: error, port: check.port }, 'health check port not served');
      this.open.delete(check.port);
    }
  }

  private answer({ namespace, name, localEndpoints }: HealthCheck, response: ServerResponse): void {
    const serviceProxyHealthy = this.deps.isHealthy();
    const body = JSON.stringify({ service: { namespace, name }, localEndpoints, serviceProxyHealthy });
    response.writeHead(localEndpoints > 0 && serviceProxyHealthy ? 200 : 503, {
      'content-type': 'application/json',
      'x-load-balancing-endpoint-weight': String(localEndpoints),
      connection: 'close',
    });
    response.end(body);
  }
}
