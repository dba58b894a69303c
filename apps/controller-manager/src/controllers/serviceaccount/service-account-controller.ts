import { Namespaces, ServiceAccounts } from '@tinkernetes/api';
import { isAlreadyExists } from '@tinkernetes/apimachinery';
import type { Reconciler } from '@tinkernetes/controller';
import type { ControllerContext, RunnableController } from '../../manager/context';
import { queueController } from '../../manager/queue-controller';

const accountName = 'default';

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
      const namespace = namespaces.lister.get(name);
      if (!namespace || namespace.status?.phase === 'Terminating' || accounts.lister.get(accountName, name))
        return;
      await client
        .for(ServiceAccounts)
        .create({ metadata: { name: accountName, namespace: name } }, { namespace: name, signal })
        .catch((error: unknown) => {
          if (!isAlreadyExists(error)) throw error;
        });
    },
  };
  return queueController({ context, queue, reconciler, concurrency: 1 });
}
