import type {
  CreateSubresourceHandlers,
  HandlerDependencies,
  NonResourceHandler,
  ServerDependencies,
} from '../contracts';
import { TokenIssuer } from './issuer';
import { createOpenIdHandler, discoveryPath, jwksPath } from './openid';
import { loadServiceAccountKeys, type ServiceAccountKeys } from './service-account-keys';
import { createTokenRequestHandler } from './token-request';

/** POST serviceaccounts/NAME/token. The keys are read when the first token is asked for. */
export const createTokenHandlers: CreateSubresourceHandlers = (deps) => {
  const issuer = once(async () => issuerWith(deps, await loadServiceAccountKeys(deps.options)));
  return new Map([['/serviceaccounts/token', createTokenRequestHandler(deps, issuer)]]);
};

function issuerWith(
  deps: HandlerDependencies,
  { signing: key }: ServiceAccountKeys,
): TokenIssuer | undefined {
  const { options, context } = deps;
  const { serviceAccountIssuer: issuer, apiAudiences } = options;
  return key && new TokenIssuer({ key, issuer, apiAudiences, clock: context.clock, random: context.random });
}

/** The service-account issuer's discovery documents. */
export function createIssuerDiscovery({ options }: ServerDependencies): NonResourceHandler {
  const handler = once(async () =>
    createOpenIdHandler(options, (await loadServiceAccountKeys(options)).verification),
  );
  return async (request, info) =>
    (info.path === discoveryPath || info.path === jwksPath) && (await handler())(request, info);
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}
