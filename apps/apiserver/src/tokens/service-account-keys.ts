import type { ApiServerOptions } from '../options';
import { loadSigningKey, loadVerificationKeys, type SigningKey, type VerificationKey } from './keys';

export interface ServiceAccountKeys {
  readonly signing: SigningKey | undefined;
  /** All that tokens are accepted from: the files given, or else the signing key itself. */
  readonly verification: readonly VerificationKey[];
}

/** The keys that the flags name. Read once a server, by the authenticator and by the token issuer. */
export async function loadServiceAccountKeys(options: ApiServerOptions): Promise<ServiceAccountKeys> {
  const file = options.serviceAccountSigningKeyFile;
  const [signing, given] = await Promise.all([
    file ? loadSigningKey(file) : undefined,
    loadVerificationKeys(options.serviceAccountKeyFiles),
  ]);
  return { signing, verification: given.length > 0 || !signing ? given : [signing] };
}
