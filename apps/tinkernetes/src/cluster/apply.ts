import type { Client } from '@tinkernetes/client';
import { applyPath, type Manifest } from './addons';

/** Server-side applies all manifests at once; applying them again changes nothing. */
export async function applyManifests(client: Client, manifests: readonly Manifest[]): Promise<void> {
  await Promise.all(
    manifests.map((manifest) =>
      client.request({
        method: 'PATCH',
        path: `${applyPath(manifest)}?fieldManager=tinkernetes&force=true`,
        headers: { 'content-type': 'application/apply-patch+yaml' },
        body: manifest,
      }),
    ),
  );
}
