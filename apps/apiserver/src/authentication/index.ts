import { readFile } from 'node:fs/promises';
import type { Authenticator, CreateAuthenticators } from '../contracts';
import { ServiceAccountAuthenticator } from '../tokens/service-account-authenticator';
import { loadServiceAccountKeys } from '../tokens/service-account-keys';
import { BearerAuthenticator } from './bearer';
import { createBootstrapTokenAuthenticator } from './bootstrap-token';
import { certificatesIn } from './certificate-issuer';
import { createRequestHeaderAuthenticator } from './request-header';
import type { TokenAuthenticator } from './token-authenticator';
import { loadTokenFile } from './token-file';
import { createX509Authenticator } from './x509';

/** The authenticators that the flags ask for, in upstream's order. Anonymous requests are the server's own matter. */
export const createAuthenticators: CreateAuthenticators = async ({ options, stores, context }) => {
  const { clock } = context;
  const authenticators: Authenticator[] = [];
  const { clientCaFile, requestHeader } = options;
  if (requestHeader) authenticators.push(await createRequestHeaderAuthenticator(requestHeader));
  if (clientCaFile) {
    const isSole = !requestHeader || requestHeader.clientCaFile === clientCaFile;
    const authorities = isSole ? undefined : certificatesIn(await readFile(clientCaFile, 'utf8'));
    authenticators.push(createX509Authenticator({ authorities }));
  }
  const tokens: TokenAuthenticator[] = [];
  if (options.tokenAuthFile) tokens.push(await loadTokenFile(options.tokenAuthFile));
  const { verification: keys } = await loadServiceAccountKeys(options);
  if (keys.length > 0) {
    const { serviceAccountIssuer: issuer, apiAudiences } = options;
    tokens.push(new ServiceAccountAuthenticator({ keys, issuer, apiAudiences, stores, clock }));
  }
  if (options.bootstrapTokenAuth) tokens.push(createBootstrapTokenAuthenticator(stores, clock));
  authenticators.push(new BearerAuthenticator({ tokens, audiences: options.apiAudiences, clock }));
  return authenticators;
};
