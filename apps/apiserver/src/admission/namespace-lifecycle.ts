import { Namespaces } from '@tinkernetes/api';
import { notFound, StatusError } from '@tinkernetes/apimachinery';
import type { AdmissionAttributes, AdmissionPlugin, StoreRegistry } from '../contracts';
import { notAdmitted, notAdmittedYet } from './answers';

const immortal: ReadonlySet<string> = new Set(['default', 'kube-system', 'kube-public']);

/** Nothing is created in a namespace that isn't there or is being deleted; the first namespaces stay. */
export function namespaceLifecycle(stores: StoreRegistry): AdmissionPlugin {
  const namespaces = stores.for(Namespaces);
  return {
    name: 'NamespaceLifecycle',
    handles: (a) =>
      a.operation === 'DELETE'
        ? a.group === '' && a.resource === 'namespaces' && a.subresource === ''
        : a.operation !== 'CONNECT' &&
          a.namespace !== '' &&
          !isNamespace(a) &&
          a.resource !== 'localsubjectaccessreviews',
    mutate: (a) => {
      checkContent(a);
      return undefined;
    },
    validate: (a) => {
      if (a.operation === 'DELETE' && immortal.has(a.name)) {
        throw notAdmitted(a, 'this namespace may not be deleted');
      }
      // Again behind slow plugins: the namespace may have begun to go in between.
      if (a.operation === 'CREATE') checkContent(a);
    },
  };

  function checkContent(a: AdmissionAttributes): void {
    const namespace = namespaces.peek(a.namespace);
    if (!namespace) throw notFound({ group: '', resource: 'namespaces' }, a.namespace);
    const terminating = namespace.status?.phase === 'Terminating' || namespace.metadata.deletionTimestamp;
    if (a.operation !== 'CREATE' || !terminating) return;
    const error = notAdmittedYet(
      a,
      `unable to create new content in namespace ${a.namespace} because it is being terminated`,
    );
    throw new StatusError('Forbidden', error.message, {
      details: {
        ...error.details,
        causes: [
          {
            reason: 'NamespaceTerminating',
            message: `namespace ${a.namespace} is being terminated`,
            field: 'metadata.namespace',
          },
        ],
      },
    });
  }
}

const isNamespace = (a: AdmissionAttributes): boolean => a.group === '' && a.resource === 'namespaces';
