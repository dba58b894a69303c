import { ServiceAccounts, type TokenRequest } from '@tinkernetes/api';
import { isAlreadyExists, isNotFound } from '@tinkernetes/apimachinery';
import {
  createClient,
  createConnectionPool,
  type Client,
  type ClientConfig,
  type ConnectionPool,
} from '@tinkernetes/client';
import type { Clock, LoopbackNetwork, Metrics } from '@tinkernetes/component-base';

const namespace = 'kube-system';
/** Of its life, after which a new token is asked for. */
const renewAt = 0.9;

export interface ServiceAccountClientsOptions {
  /** The manager's own identity, which may request tokens. */
  manager: Client;
  config: ClientConfig;
  clock: Clock;
  metrics?: Metrics;
  loopback?: LoopbackNetwork;
}

export interface ServiceAccountClients {
  /** A client with the identity `system:serviceaccount:kube-system:NAME`. */
  for(serviceAccount: string): Client;
  close(): void;
}

/**
 * Clients with identities of their own over connections that they share: only their tokens differ. A token is requested
 * at the first call: most controllers write nothing while a cluster starts.
 * Source: k8s.io/controller-manager/pkg/clientbuilder.
 */
export function createServiceAccountClients(options: ServiceAccountClientsOptions): ServiceAccountClients {
  const { certData: _cert, keyData: _key, tokenFile: _file, token: _token, ...anonymous } = options.config;
  const connections = createConnectionPool(anonymous, { loopback: options.loopback });
  const known = new Map<string, Client>();
  return {
    for(serviceAccount) {
      const client =
        known.get(serviceAccount) ?? clientOf({ ...options, config: anonymous, connections, serviceAccount });
      known.set(serviceAccount, client);
      return client;
    },
    close: () => connections.close(),
  };
}

function clientOf({
  manager,
  config,
  clock,
  connections,
  metrics,
  serviceAccount,
}: ServiceAccountClientsOptions & { connections: ConnectionPool; serviceAccount: string }): Client {
  const client = createClient(
    {
      ...config,
      tokenSource: renewedToken(() => requestToken(manager, serviceAccount), clock),
      userAgent: `${config.userAgent}/${serviceAccount}`,
    },
    { clock, connections, metrics },
  );
  // Objects come from the shared informers, which read with the manager's identity.
  return { ...client, traceOf: (object) => manager.traceOf(object) };
}

/** One token for everybody who asks, until a tenth of its life is left. */
function renewedToken(request: () => Promise<TokenRequest>, clock: Clock): () => Promise<string> {
  let current: { token: string; renewAtMs: number } | undefined;
  let pending: Promise<string> | undefined;
  const renew = async (): Promise<string> => {
    const { token, expirationTimestamp = '' } = (await request()).status ?? {};
    if (!token) throw new Error('the API server answered a TokenRequest without a token');
    const lifetimeMs = Date.parse(expirationTimestamp) - clock.now();
    current = { token, renewAtMs: clock.now() + lifetimeMs * renewAt };
    return token;
  };
  return () => {
    if (current && clock.now() < current.renewAtMs) return Promise.resolve(current.token);
    pending ??= renew().finally(() => (pending = undefined));
    return pending;
  };
}

async function requestToken(manager: Client, name: string): Promise<TokenRequest> {
  const accounts = manager.for(ServiceAccounts);
  const request = () =>
    accounts.subresource<TokenRequest>(
      'POST',
      name,
      'token',
      { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} },
      { namespace },
    );
  try {
    return await request();
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  await accounts.create({ metadata: { name, namespace } }, { namespace }).catch((error: unknown) => {
    if (!isAlreadyExists(error)) throw error;
  });
  return request();
}
