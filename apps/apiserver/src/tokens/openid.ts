import { checkAccepted } from '../endpoints/route-media-types';
import { unsupportedMethod } from '../endpoints/routes';
import type { ApiServerOptions } from '../options';
import type { NonResourceHandler } from '../contracts';
import type { VerificationKey } from './keys';

export const discoveryPath = '/.well-known/openid-configuration';
export const jwksPath = '/openid/v1/jwks';

/**
 * The documents by which others can check service-account tokens.
 * Source: https://kubernetes.io/docs/tasks/configure-pod-container/configure-service-account/#service-account-issuer-discovery
 */
export function createOpenIdHandler(
  { serviceAccountIssuer, advertiseAddress }: ApiServerOptions,
  keys: readonly VerificationKey[],
): NonResourceHandler {
  return async ({ raw, response }, info) => {
    if (raw.method !== 'GET') throw unsupportedMethod();
    const isKeys = info.path === jwksPath;
    const contentType = isKeys ? 'application/jwk-set+json' : 'application/json';
    checkAccepted(raw.headers.accept, [contentType]);
    // As advertised: the port is the one that the client has reached.
    const host = `${advertiseAddress.includes(':') ? `[${advertiseAddress}]` : advertiseAddress}:${raw.socket.localPort ?? 443}`;
    const document = isKeys ? { keys: keys.map(jwk) } : configuration(serviceAccountIssuer, host, keys);
    response.writeHead(200, {
      'content-type': contentType,
      'cache-control': 'public, max-age=3600',
    });
    response.end(JSON.stringify(document));
    return true;
  };
}

function configuration(issuer: string, host: string, keys: readonly VerificationKey[]): object {
  return {
    issuer,
    jwks_uri: `https://${host}${jwksPath}`,
    response_types_supported: ['id_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: [...new Set(keys.map((key) => key.algorithm))].sort(),
  };
}

function jwk({ id, algorithm, key }: VerificationKey): object {
  return { use: 'sig', kid: id, alg: algorithm, ...key.export({ format: 'jwk' }) };
}
