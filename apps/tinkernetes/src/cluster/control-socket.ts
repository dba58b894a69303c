import { createServer, request, type Server } from 'node:http';
import { mkdir, rm } from 'node:fs/promises';
import { UsageError } from '@tinkernetes/component-base';
import type { ComponentStatus } from '../launcher/supervisor';
import type { ClusterLayout } from './layout';

/** What a running cluster tells about itself on its control socket. */
export interface ClusterReport {
  pid: number;
  server: string;
  kubeconfig: string;
  nodes: number;
  components: ComponentStatus[];
}

export interface ControlHandlers {
  report(): ClusterReport;
  /** Stops the cluster; the answer is sent before. */
  stop(): void;
}

/**
 * Takes the data directory for this cluster: only one process can listen on its control socket. A socket that nobody
 * answers on was left by a killed launcher and is taken over.
 */
export async function openControlSocket(layout: ClusterLayout, handlers: ControlHandlers): Promise<Server> {
  await mkdir(layout.runDir, { recursive: true, mode: 0o700 });
  const running = await askCluster(layout, 'GET', '/status');
  if (running) {
    throw new UsageError(
      `the data directory ${layout.dataDir} is in use by a running cluster (pid ${running.pid}): stop it with \`tinkernetes down\`, or choose another --data-dir`,
    );
  }
  await rm(layout.controlSocket, { force: true });
  const server = createServer((req, res) => {
    res.setHeader('content-type', 'application/json');
    if (req.method === 'GET' && req.url === '/status') return res.end(JSON.stringify(handlers.report()));
    if (req.method === 'POST' && req.url === '/stop') {
      res.end(JSON.stringify(handlers.report()));
      return handlers.stop();
    }
    res.statusCode = 404;
    return res.end('{}');
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(layout.controlSocket, () => resolve());
  });
  return server;
}

/** undefined: no cluster runs in this data directory. */
export function askCluster(
  layout: ClusterLayout,
  method: 'GET' | 'POST',
  path: string,
): Promise<ClusterReport | undefined> {
  return new Promise((resolve, reject) => {
    const req = request({ socketPath: layout.controlSocket, method, path, agent: false }, (res) => {
      let text = '';
      res.setEncoding('utf8');
      res.on('data', (chunk: string) => (text += chunk));
      res.on('end', () => resolve(JSON.parse(text) as ClusterReport));
      res.on('error', reject);
    });
    req.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ECONNREFUSED' || error.code === 'ECONNRESET')
        resolve(undefined);
      else reject(error);
    });
    req.end();
  });
}
