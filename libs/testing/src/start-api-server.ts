import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  startServer,
  toOptions,
  flags,
  type ApiServerOptions,
  type RunningApiServer,
} from '@tinkernetes/apiserver';
import type { ClientConfig } from '@tinkernetes/client';
import {
  createMetrics,
  createStepTracer,
  parseFlags,
  realClock,
  realRandom,
  type RunContext,
} from '@tinkernetes/component-base';
import { silentLogger } from '@tinkernetes/component-base/testing';
import {
  createCertificateAuthority,
  createServiceAccountKeyPair,
  issueCertificate,
  type CertificateAuthority,
} from '@tinkernetes/pki';
import { createMemoryStorage, type Storage } from '@tinkernetes/storage';
import { kubeconfigText } from './kubeconfig-text';

export interface ApiServerOptionsForTests {
  /** Stays open when the server stops; left out: memory storage of its own. */
  storage?: Storage;
  /** Of a server that was here before: its clients' certificates stay good. */
  ca?: CertificateAuthority;
  /** More flags, e.g. `--authorization-mode=RBAC`. */
  flags?: readonly string[];
  /** Parts of the context to replace (clock, random, logger …). */
  context?: Partial<RunContext>;
}

export interface TestApiServer {
  /** `https://127.0.0.1:PORT` */
  readonly server: string;
  readonly port: number;
  /** Of a user in system:masters. */
  readonly adminConfig: ClientConfig;
  /** The same as a kubeconfig file's text. */
  readonly kubeconfig: string;
  /** A client's config as another user, by certificate. */
  configFor(user: string, ...groups: string[]): Promise<ClientConfig>;
  readonly stores: RunningApiServer['table'];
  readonly ca: CertificateAuthority;
  stop(): Promise<void>;
}

/** A real API server in this process, on memory storage and a free loopback port, with certificates of its own. */
export async function startApiServer(options: ApiServerOptionsForTests = {}): Promise<TestApiServer> {
  const now = realClock.now();
  const ca = options.ca ?? (await createCertificateAuthority({ commonName: 'kubernetes-ca', now }));
  const directory = await mkdtemp(join(tmpdir(), 'tinkernetes-apiserver-'));
  const stopping = new AbortController();
  const storage = options.storage ?? (await createMemoryStorage({ clock: realClock }));
  const context: RunContext = {
    signal: stopping.signal,
    clock: realClock,
    random: realRandom,
    logger: silentLogger,
    metrics: createMetrics(),
    tracer: createStepTracer({ component: 'kube-apiserver' }),
    ready: () => undefined,
    ...options.context,
  };
  const running = await startServer(
    await serverOptions(ca, directory, options.flags ?? [], now),
    context,
    storage,
  );
  const server = `https://127.0.0.1:${running.port}`;
  const configFor = async (user: string, ...groups: string[]): Promise<ClientConfig> => {
    const pair = await issueCertificate(ca, {
      commonName: user,
      organizations: groups,
      usages: ['clientAuth'],
      now,
    });
    return {
      server,
      caData: ca.certificate,
      certData: pair.certificate,
      keyData: pair.key,
      userAgent: `${user}/test`,
    };
  };
  const adminConfig = await configFor('kubernetes-admin', 'system:masters');
  return {
    server,
    port: running.port,
    adminConfig,
    kubeconfig: kubeconfigText(adminConfig),
    configFor,
    stores: running.table,
    ca,
    async stop() {
      stopping.abort(new Error('test is over'));
      await running.stop();
      if (!options.storage) await storage.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function serverOptions(
  ca: CertificateAuthority,
  directory: string,
  more: readonly string[],
  now: number,
): Promise<ApiServerOptions> {
  const [serving, serviceAccount] = await Promise.all([
    issueCertificate(ca, {
      commonName: 'kube-apiserver',
      dnsNames: ['localhost', 'kubernetes', 'kubernetes.default', 'kubernetes.default.svc'],
      ipAddresses: ['127.0.0.1', '10.96.0.1'],
      usages: ['serverAuth'],
      now,
    }),
    createServiceAccountKeyPair(),
  ]);
  const file = async (name: string, text: string): Promise<string> => {
    const path = join(directory, name);
    await writeFile(path, text, { mode: 0o600 });
    return path;
  };
  const argv = [
    '--bind-address=127.0.0.1',
    '--secure-port=0',
    '--storage=memory',
    `--client-ca-file=${await file('ca.crt', ca.certificate)}`,
    `--tls-cert-file=${await file('server.crt', serving.certificate)}`,
    `--tls-private-key-file=${await file('server.key', serving.key)}`,
    `--service-account-key-file=${await file('sa.pub', serviceAccount.publicKey)}`,
    `--service-account-signing-key-file=${await file('sa.key', serviceAccount.privateKey)}`,
    ...more,
  ];
  return toOptions(parseFlags(flags, argv));
}
