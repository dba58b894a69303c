import type { Socket } from 'node:net';
import { badRequest } from '@tinkernetes/apimachinery';
import type { UpgradeTarget } from '@tinkernetes/streaming';
import type { ApiRequest } from '../contracts';
import { withoutCredentials } from './forwarded-headers';

/** Hands the client's connection over to the target. Resolves when both have closed. */
export async function passUpgrade(
  { raw, response, upgrade }: ApiRequest,
  target: UpgradeTarget,
): Promise<void> {
  if (!upgrade) throw badRequest('Upgrade request required');
  // Loaded with the first exec or port-forward.
  const { proxyUpgrade } = await import('@tinkernetes/streaming');
  // From here on the connection is not HTTP: the answer object has no more say.
  response.detachSocket(upgrade.socket as Socket);
  await proxyUpgrade(
    { request: raw, ...upgrade },
    { ...target, headers: { ...withoutCredentials(raw), ...target.headers } },
  );
}
