import { ConfigMaps } from '@tinkernetes/api';
import { isAlreadyExists, isNotFound } from '@tinkernetes/apimachinery';
import type { Client } from '@tinkernetes/client';
import { applyPath, collectionPath, type Manifest } from './addons';

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

const namespace = 'kube-system';

/**
 * Creates the manifests in a cluster that has never had them: what a user has changed or deleted since stays so. A
 * ConfigMap of this name remembers it.
 */
export async function installOnce(
  client: Client,
  name: string,
  manifests: readonly Manifest[],
): Promise<void> {
  const records = client.for(ConfigMaps);
  const isInstalled = await records.get(name, { namespace }).then(
    () => true,
    (error: unknown) => {
      if (!isNotFound(error)) throw error;
      return false;
    },
  );
  if (isInstalled) return;
  await Promise.all(
    manifests.map((manifest) =>
      client.request({ method: 'POST', path: collectionPath(manifest), body: manifest }).catch(unlessThere),
    ),
  );
  await records
    .create({ metadata: { name }, data: { installed: manifests.map(applyPath).join('\n') } }, { namespace })
    .catch(unlessThere);
}

function unlessThere(error: unknown): void {
  if (!isAlreadyExists(error)) throw error;
}
