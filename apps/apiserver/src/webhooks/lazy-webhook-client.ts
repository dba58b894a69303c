import type { ServerDependencies } from '../contracts';
import type { WebhookClient } from './webhook-client';

/** The client of webhooks, loaded when the first is asked: most clusters have none. */
export function lazyWebhookClient(deps: ServerDependencies): () => Promise<WebhookClient> {
  let client: Promise<WebhookClient> | undefined;
  return () => (client ??= import('./webhook-client').then(({ WebhookClient }) => new WebhookClient(deps)));
}
