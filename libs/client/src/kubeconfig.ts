import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { ClientConfig } from './types';

export interface KubeconfigOptions {
  /** `kube-scheduler/v1.36.0 (linux/amd64)`; its first word is the default field manager. */
  userAgent: string;
  /** Left out: the file's current-context. */
  context?: string;
  traces?: boolean;
}

interface Cluster {
  server: string;
  'certificate-authority'?: string;
  'certificate-authority-data'?: string;
  'insecure-skip-tls-verify'?: boolean;
}
interface User {
  'client-certificate'?: string;
  'client-certificate-data'?: string;
  'client-key'?: string;
  'client-key-data'?: string;
  token?: string;
  tokenFile?: string;
}
interface Kubeconfig {
  'current-context'?: string;
  clusters?: { name: string; cluster: Cluster }[];
  contexts?: { name: string; context: { cluster: string; user: string } }[];
  users?: { name: string; user: User }[];
}

/**
 * Reads a kubeconfig (YAML or JSON), its inline data or the files it names, which are relative to it. Throws an Error
 * that says what is missing. See
 * https://kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig/
 */
export async function loadKubeconfig(path: string, options: KubeconfigOptions): Promise<ClientConfig> {
  const config = await parse(await readFile(path, 'utf8'), path);
  const { cluster, user } = select(config, path, options.context);
  const pem = (data?: string, file?: string) => inlineOrFile(dirname(path), data, file);
  const [caData, certData, keyData] = await Promise.all([
    pem(cluster['certificate-authority-data'], cluster['certificate-authority']),
    pem(user['client-certificate-data'], user['client-certificate']),
    pem(user['client-key-data'], user['client-key']),
  ]);
  return {
    server: cluster.server.replace(/\/$/, ''),
    caData,
    certData,
    keyData,
    token: user.token,
    tokenFile: user.token || !user.tokenFile ? undefined : resolve(dirname(path), user.tokenFile),
    insecureSkipTLSVerify: cluster['insecure-skip-tls-verify'],
    userAgent: options.userAgent,
    traces: options.traces,
  };
}

async function parse(text: string, path: string): Promise<Kubeconfig> {
  // JSON is YAML too; asking here first keeps the YAML parser out of components that start from a JSON file.
  const value: unknown = text.trimStart().startsWith('{')
    ? JSON.parse(text)
    : (await import('yaml')).parse(text);
  if (typeof value !== 'object' || value === null) throw new Error(`${path} is not a kubeconfig`);
  return value;
}

function select(config: Kubeconfig, path: string, wanted?: string): { cluster: Cluster; user: User } {
  const contextName = wanted ?? config['current-context'];
  if (!contextName) throw new Error(`${path} has no current-context`);
  const context = config.contexts?.find((c) => c.name === contextName)?.context;
  if (!context) throw new Error(`${path} has no context "${contextName}"`);
  const cluster = config.clusters?.find((c) => c.name === context.cluster)?.cluster;
  if (!cluster) throw new Error(`${path} has no cluster "${context.cluster}"`);
  if (!context.user) return { cluster, user: {} };
  const user = config.users?.find((u) => u.name === context.user)?.user;
  if (!user) throw new Error(`${path} has no user "${context.user}"`);
  return { cluster, user };
}

async function inlineOrFile(base: string, data?: string, file?: string): Promise<string | undefined> {
  if (data) return Buffer.from(data, 'base64').toString('utf8');
  return file ? readFile(resolve(base, file), 'utf8') : undefined;
}
