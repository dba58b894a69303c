// Small HTTPS client for benchmarks: kept-alive connections, no decoding that nobody asked for.
import { readFileSync } from 'node:fs';
import https from 'node:https';
import { parse } from 'yaml';

/** Server and TLS settings of a kubeconfig's current (or first) context with a client certificate or a token. */
export function readKubeconfig(file) {
  const config = parse(readFileSync(file, 'utf8'));
  const context = config.contexts.find((c) => c.name === config['current-context']) ?? config.contexts[0];
  const { cluster } = config.clusters.find((c) => c.name === context.context.cluster);
  const { user } = config.users.find((u) => u.name === context.context.user);
  const data = (from, key) =>
    from[`${key}-data`] ? Buffer.from(from[`${key}-data`], 'base64') : from[key] && readFileSync(from[key]);
  return {
    server: cluster.server,
    token: user.token,
    tls: {
      ca: data(cluster, 'certificate-authority'),
      cert: data(user, 'client-certificate'),
      key: data(user, 'client-key'),
    },
  };
}

export class HttpsClient {
  constructor({ server, token, tls }, { sockets }) {
    this.server = server;
    this.agent = new https.Agent({ ...tls, keepAlive: true, maxSockets: sockets });
    this.headers = token ? { authorization: `Bearer ${token}` } : {};
  }

  /** Resolves with the answer's bytes, or without with `discard`; rejects when it is none of 2xx. */
  request(method, path, { body, type = 'application/json', accept, discard = false } = {}) {
    return new Promise((resolve, reject) => {
      // Node adds no length to a DELETE by itself.
      const length = body ? Buffer.byteLength(body) : 0;
      const headers = {
        ...this.headers,
        ...(body && { 'content-type': type, 'content-length': length }),
        ...(accept && { accept }),
      };
      const req = https.request(new URL(path, this.server), { method, agent: this.agent, headers });
      req.on('response', (res) => {
        const chunks = [];
        res.on('data', (chunk) => {
          if (!discard || res.statusCode >= 300) chunks.push(chunk);
        });
        res.on('error', reject);
        res.on('end', () => {
          const bytes = Buffer.concat(chunks);
          if (res.statusCode < 300) resolve(bytes);
          else reject(new Error(`${method} ${path}: ${res.statusCode} ${bytes.toString().slice(0, 300)}`));
        });
      });
      req.on('error', reject);
      req.end(body);
    });
  }

  /** A watch on a connection of its own whose lines are counted, not parsed. Resolves when the server has answered. */
  watch(path, onLines) {
    return new Promise((resolve, reject) => {
      const req = https.request(new URL(path, this.server), { agent: this.agent, headers: this.headers });
      req.on('response', (res) => {
        res.on('error', () => undefined);
        res.on('data', (chunk) => {
          let lines = 0;
          for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) lines++;
          if (lines > 0) onLines(lines);
        });
        resolve(() => req.destroy());
      });
      req.on('error', reject);
      req.end();
    });
  }

  close() {
    this.agent.destroy();
  }
}
