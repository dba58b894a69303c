import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually, freePort } from '@tinkernetes/component-base/testing';

/** PEM: of the server, and of the one client that it lets in. */
export interface EtcdServerTls {
  ca: string;
  server: { certificate: string; key: string };
  client: { certificate: string; key: string };
}

/** A real etcd on loopback, with a folder of its own. */
export class EtcdServer {
  private readonly folder = mkdtempSync(join(tmpdir(), 'etcd-'));
  private child: ChildProcess | undefined;

  private constructor(
    private readonly program: string,
    private readonly ports: { client: number; peer: number },
    private readonly tls: EtcdServerTls | undefined,
  ) {}

  static async start(program: string, tls?: EtcdServerTls): Promise<EtcdServer> {
    const server = new EtcdServer(program, { client: await freePort(), peer: await freePort() }, tls);
    await server.start();
    return server;
  }

  get url(): string {
    return `${this.tls ? 'https' : 'http'}://127.0.0.1:${this.ports.client}`;
  }

  async start(): Promise<void> {
    const peer = `http://127.0.0.1:${this.ports.peer}`;
    this.child = spawn(
      this.program,
      [
        ...['--data-dir', join(this.folder, 'data'), '--log-level', 'error'],
        ...['--listen-client-urls', this.url, '--advertise-client-urls', this.url],
        ...['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer],
        ...['--initial-cluster', `default=${peer}`],
        ...this.tlsFlags(),
      ],
      { stdio: 'ignore' },
    );
    await eventually(async () => {
      const { health } = (await this.request('GET', '/health')) as { health?: string };
      return health === 'true';
    });
  }

  /** Has etcd ask for a user and a password from now on. */
  async enableAuth(user: { name: string; password: string }): Promise<void> {
    await this.request('POST', '/v3/auth/role/add', { name: 'root' });
    for (const { name, password } of [{ name: 'root', password: 'for root' }, user]) {
      await this.request('POST', '/v3/auth/user/add', { name, password });
      await this.request('POST', '/v3/auth/user/grant', { user: name, role: 'root' });
    }
    await this.request('POST', '/v3/auth/enable', {});
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const child = this.child;
    if (!child) return;
    this.child = undefined;
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
  }

  async remove(): Promise<void> {
    await this.kill();
    rmSync(this.folder, { recursive: true });
  }

  private tlsFlags(): string[] {
    if (!this.tls) return [];
    const { ca, server } = this.tls;
    const file = (name: string, text: string) => {
      const path = join(this.folder, name);
      writeFileSync(path, text);
      return path;
    };
    return [
      ...[
        '--cert-file',
        file('server.crt', server.certificate),
        '--key-file',
        file('server.key', server.key),
      ],
      ...['--trusted-ca-file', file('ca.crt', ca), '--client-cert-auth'],
    ];
  }

  /** To etcd's JSON gateway. */
  private request(method: string, path: string, body?: object): Promise<unknown> {
    const { tls } = this;
    const text = body === undefined ? '' : JSON.stringify(body);
    const headers = { connection: 'close', 'content-length': text.length };
    const secure = tls && { ca: tls.ca, cert: tls.client.certificate, key: tls.client.key };
    return new Promise((resolve, reject) => {
      const req = (tls ? https : http).request(this.url + path, { method, headers, agent: false, ...secure });
      req.on('error', reject);
      req.on('response', (response) => {
        response
          .setEncoding('utf8')
          .toArray()
          .then((chunks) => {
            if (response.statusCode === 200) resolve(JSON.parse(chunks.join('')));
            else reject(new Error(`${path}: ${response.statusCode} ${chunks.join('')}`));
          })
          .catch(reject);
      });
      req.end(text);
    });
  }
}
