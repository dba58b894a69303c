import { Namespaces, ServiceAccounts, type Namespace, type ServiceAccount } from '@tinkernetes/api';
import { isAlreadyExists } from '@tinkernetes/apimachinery';
import type { Reconciler } from '@tinkernetes/controller';
import type { ControllerContext, RunnableController } from '../../manager/context';
import { queueController } from '../../manager/queue-controller';
import { isNamespaceTerminating } from '../shared/namespace-terminating';

const accountName = 'default';

/** The ServiceAccount that a namespace lacks. One that is on its way gets none. Source: serviceaccount syncNamespace. */
export const missingAccount = (
  namespace: Namespace | undefined,
  account: ServiceAccount | undefined,
): ServiceAccount | undefined =>
  !namespace || namespace.status?.phase === 'Terminating' || account
    ? undefined
    : { metadata: { name: accountName, namespace: namespace.metadata.name } };

/** Keeps a ServiceAccount `default` in each active Namespace. Source: k8s.io/kubernetes/pkg/controller/serviceaccount. */
export function startServiceAccountController(context: ControllerContext): RunnableController {
  const { client, informers } = context;
  const namespaces = informers.for(Namespaces);
  const accounts = informers.for(ServiceAccounts);
  const queue = context.queues.create('serviceaccount-controller');
  namespaces.addEventHandler({
    added: (ns) => queue.add(ns.metadata.name),
    updated: (_, ns) => queue.add(ns.metadata.name),
  });
  accounts.addEventHandler({
    deleted: ({ metadata }) => {
      if (metadata.name === accountName && metadata.namespace) queue.add(metadata.namespace);
    },
  });
  const reconciler: Reconciler = {
    name: 'serviceaccount-controller',
    async reconcile(name, { signal }) {
      const missing = missingAccount(namespaces.lister.get(name), accounts.lister.get(accountName, name));
      if (!missing) return;
      await client
        .for(ServiceAccounts)
        .create(missing, { namespace: name, signal })
        .catch((error: unknown) => {
          if (!isAlreadyExists(error) && !isNamespaceTerminating(error)) throw error;
        });
    },
  };
  return queueController({ context, queue, reconciler, concurrency: 1 });
}
