import { readFile } from 'node:fs/promises';
import { ConfigMaps, type KubeObject } from '@tinkernetes/api';
import { deepEqual } from '@tinkernetes/apimachinery';
import type { StoreRegistry } from '../contracts';
import type { ApiServerOptions } from '../options';
import { createUnlessThere } from './bootstrap-objects';

const name = 'extension-apiserver-authentication';
const namespace = 'kube-system';

/**
 * What aggregated servers need to know of how this one authenticates: they read it from a ConfigMap. Source:
 * k8s.io/kubernetes/pkg/controlplane/controller/clusterauthenticationtrust.
 */
export async function publishAuthentication(stores: StoreRegistry, options: ApiServerOptions): Promise<void> {
  const data = await authenticationData(options);
  if (Object.keys(data).length === 0) return;
  const store = stores.for(ConfigMaps);
  const present = store.peek(name, namespace);
  if (!present) {
    await createUnlessThere(store, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, namespace },
      data,
    } as KubeObject);
  } else if (!deepEqual(present.data, { ...present.data, ...data })) {
    await store.modify(name, namespace, (current) => ({ ...current, data: { ...current.data, ...data } }));
  }
}

async function authenticationData({
  clientCaFile,
  requestHeader,
}: ApiServerOptions): Promise<Record<string, string>> {
  const lists = requestHeader && {
    'requestheader-allowed-names': JSON.stringify(requestHeader.allowedNames),
    'requestheader-client-ca-file': await readFile(requestHeader.clientCaFile, 'utf8'),
    'requestheader-extra-headers-prefix': JSON.stringify(requestHeader.extraHeaderPrefixes),
    'requestheader-group-headers': JSON.stringify(requestHeader.groupHeaders),
    ...(requestHeader.uidHeaders.length && {
      'requestheader-uid-headers': JSON.stringify(requestHeader.uidHeaders),
    }),
    'requestheader-username-headers': JSON.stringify(requestHeader.usernameHeaders),
  };
  return { ...(clientCaFile && { 'client-ca-file': await readFile(clientCaFile, 'utf8') }), ...lists };
}
