import {
  ServiceAccounts,
  type KubeObject,
  type ResourceDescriptor,
  type TokenRequest,
} from '@tinkernetes/api';
import { isAlreadyExists, isNotFound } from '@tinkernetes/apimachinery';
import { createClient, type Client, type ClientConfig, type ResourceClient } from '@tinkernetes/client';
import type { Clock } from '@tinkernetes/component-base';

const namespace = 'kube-system';
/** A token is asked for again when a tenth of its life is left. */
const renewAt = 0.9;

export interface ServiceAccountClientOptions {
  /** The manager's own identity, which may request tokens. */
  manager: Client;
  config: ClientConfig;
  serviceAccount: string;
  clock: Clock;
}

/**
 * A client with the identity `system:serviceaccount:kube-system:NAME`. The token is requested at the first call: most
 * controllers write nothing while a cluster starts. Source: k8s.io/controller-manager/pkg/clientbuilder.
 */
export function createServiceAccountClient(options: ServiceAccountClientOptions): Client {
  const { manager, config, serviceAccount, clock } = options;
  let current: { client: Client; renewAtMs: number } | undefined;
  let pending: Promise<Client> | undefined;

  const renew = async (): Promise<Client> => {
    const token = await requestToken(manager, serviceAccount);
    const lifetimeMs = Date.parse(token.status?.expirationTimestamp ?? '') - clock.now();
    const { certData: _cert, keyData: _key, tokenFile: _file, ...anonymous } = config;
    const client = createClient(
      { ...anonymous, token: token.status?.token, userAgent: `${config.userAgent}/${serviceAccount}` },
      { clock },
    );
    current?.client.close();
    current = { client, renewAtMs: clock.now() + lifetimeMs * renewAt };
    return client;
  };
  const get = (): Promise<Client> | Client => {
    if (current && clock.now() < current.renewAtMs) return current.client;
    pending ??= renew().finally(() => (pending = undefined));
    return pending;
  };
  return {
    server: config.server,
    for: <T extends KubeObject>(descriptor: ResourceDescriptor<T>) =>
      lazyResource(descriptor, async () => (await get()).for(descriptor)),
    request: async (request) => (await get()).request(request),
    requestText: async (request) => (await get()).requestText(request),
    // Objects come from the shared informers, which read with the manager's identity.
    traceOf: (object) => manager.traceOf(object),
    close: () => current?.client.close(),
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

function lazyResource<T extends KubeObject>(
  descriptor: ResourceDescriptor<T>,
  get: () => Promise<ResourceClient<T>>,
): ResourceClient<T> {
  return {
    descriptor,
    get: async (...args) => (await get()).get(...args),
    list: async (...args) => (await get()).list(...args),
    watch: (...args) => lazyWatch(get, args),
    create: async (...args) => (await get()).create(...args),
    update: async (...args) => (await get()).update(...args),
    updateStatus: async (...args) => (await get()).updateStatus(...args),
    patch: async (...args) => (await get()).patch(...args),
    delete: async (...args) => (await get()).delete(...args),
    deleteCollection: async (...args) => (await get()).deleteCollection(...args),
    getScale: async (...args) => (await get()).getScale(...args),
    updateScale: async (...args) => (await get()).updateScale(...args),
    subresource: async (...args) => (await get()).subresource(...args),
  };
}

async function* lazyWatch<T extends KubeObject>(
  get: () => Promise<ResourceClient<T>>,
  args: Parameters<ResourceClient<T>['watch']>,
) {
  yield* (await get()).watch(...args);
}
