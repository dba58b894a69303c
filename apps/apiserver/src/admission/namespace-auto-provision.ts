import { Namespaces } from '@tinkernetes/api';
import { isAlreadyExists, notFound } from '@tinkernetes/apimachinery';
import type { AdmissionAttributes, AdmissionPlugin, StoreRegistry } from '../contracts';

const isContent = (a: AdmissionAttributes): boolean =>
  a.namespace !== '' && !(a.group === '' && a.resource === 'namespaces');

/** Makes a namespace when something is created in it. */
export function namespaceAutoProvision(stores: StoreRegistry): AdmissionPlugin {
  const namespaces = stores.for(Namespaces);
  return {
    name: 'NamespaceAutoProvision',
    handles: (a) => a.operation === 'CREATE' && !a.dryRun && isContent(a),
    mutate: async ({ namespace: name, object }) => {
      if (namespaces.peek(name)) return object;
      try {
        await namespaces.create({ metadata: { name }, spec: {} });
      } catch (error) {
        // Another request was faster: that is as good.
        if (!isAlreadyExists(error)) throw error;
      }
      return object;
    },
  };
}

/** Refuses everything in namespaces that are missing. */
export function namespaceExists(stores: StoreRegistry): AdmissionPlugin {
  return {
    name: 'NamespaceExists',
    handles: (a) => a.operation !== 'CONNECT' && isContent(a),
    validate: ({ namespace: name }) => {
      if (!stores.for(Namespaces).peek(name)) throw notFound({ group: '', resource: 'namespaces' }, name);
    },
  };
}
