import { loadBootstrapObjects, type KubeObject } from '@tinkernetes/api';
import { isAlreadyExists } from '@tinkernetes/apimachinery';
import type { ResourceStore, StoreRegistry, WriteInfo } from '../contracts';

/** Resources of the bootstrap facts, in the order in which they are made, with their groups. */
const order: readonly [group: string, resource: string][] = [
  ['', 'namespaces'],
  ['rbac.authorization.k8s.io', 'clusterroles'],
  ['rbac.authorization.k8s.io', 'clusterrolebindings'],
  ['rbac.authorization.k8s.io', 'roles'],
  ['rbac.authorization.k8s.io', 'rolebindings'],
  ['scheduling.k8s.io', 'priorityclasses'],
  ['flowcontrol.apiserver.k8s.io', 'prioritylevelconfigurations'],
  ['flowcontrol.apiserver.k8s.io', 'flowschemas'],
  ['apiregistration.k8s.io', 'apiservices'],
];

/** Creates what a fresh control plane has by itself; what is there stays as it is. */
export async function createBootstrapObjects(stores: StoreRegistry): Promise<void> {
  const facts = loadBootstrapObjects();
  for (const [group, resource] of order) {
    const store = stores.find(group, resource);
    if (!store) continue;
    const missing = (facts[resource] ?? [])
      .map(asFirstMade)
      .filter(({ metadata }) => !store.peek(metadata.name, metadata.namespace ?? ''));
    await Promise.all(missing.map((object) => createUnlessThere(store, object)));
  }
}

/** The facts are from a running cluster, whose controller has put aggregated rules together. */
function asFirstMade(object: KubeObject): KubeObject {
  return 'aggregationRule' in object ? ({ ...object, rules: null } as KubeObject) : object;
}

export async function createUnlessThere(
  store: Pick<ResourceStore, 'create'>,
  object: KubeObject,
  info: WriteInfo = {},
): Promise<void> {
  try {
    await store.create(object, info);
  } catch (error) {
    // Another server on the same storage was faster.
    if (!isAlreadyExists(error)) throw error;
  }
}
