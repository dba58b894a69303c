import type { CSIDriver, Pod } from '@tinkernetes/api';
import type { TokenManager } from '../token-manager';

const tokensKey = 'csi.storage.k8s.io/serviceAccount.tokens';

/** Tokens of the Pod's service account that a driver asks for, as it is told them: in the context, or among the secrets. */
export interface PodTokens {
  volumeContext: Record<string, string>;
  secrets: Record<string, string>;
}

/**
 * Source: CSIDriver.spec.tokenRequests; pkg/volume/csi podServiceAccountTokenAttrs. They are renewed when the volume is
 * published again, for which the driver asks by requiresRepublish.
 */
export async function podTokens(
  pod: Pod,
  driver: CSIDriver | undefined,
  tokens: Pick<TokenManager, 'token'>,
): Promise<PodTokens> {
  const { tokenRequests = [], serviceAccountTokenInSecrets = false } = driver?.spec ?? {};
  if (tokenRequests.length === 0) return { volumeContext: {}, secrets: {} };
  const entries = await Promise.all(
    tokenRequests.map(async ({ audience, expirationSeconds }) => {
      const { value, expires } = await tokens.token(pod, { audience, expirationSeconds });
      return [audience, { token: value, expirationTimestamp: expires }] as const;
    }),
  );
  const told = { [tokensKey]: JSON.stringify(Object.fromEntries(entries)) };
  return serviceAccountTokenInSecrets
    ? { volumeContext: {}, secrets: told }
    : { volumeContext: told, secrets: {} };
}
