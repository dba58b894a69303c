import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ClientConfig } from './types';

const serviceAccountDirectory = '/var/run/secrets/kubernetes.io/serviceaccount';

/**
 * The configuration of a program that runs in a Pod: the API server from the environment, the mounted CA and token.
 * See https://kubernetes.io/docs/tasks/run-application/access-api-from-pod/
 */
export async function loadInClusterConfig(options: {
  userAgent: string;
  env: Readonly<Record<string, string | undefined>>;
  directory?: string;
}): Promise<ClientConfig> {
  const { env, directory = serviceAccountDirectory } = options;
  const host = env.KUBERNETES_SERVICE_HOST;
  const port = env.KUBERNETES_SERVICE_PORT;
  if (!host || !port) {
    throw new Error('not in a Pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT must be set');
  }
  return {
    server: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
    caData: await readFile(join(directory, 'ca.crt'), 'utf8'),
    tokenFile: join(directory, 'token'),
    userAgent: options.userAgent,
  };
}
