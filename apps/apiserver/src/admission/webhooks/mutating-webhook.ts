import { MutatingWebhookConfigurations, type KubeObject, type MutatingWebhook } from '@tinkernetes/api';
import { applyJsonPatch, deepEqual } from '@tinkernetes/apimachinery';
import type { AdmissionPlugin, Authorizer, ServerDependencies } from '../../contracts';
import { isExempt } from '../policies/rule-matching';
import { WebhookDispatcher } from './dispatcher';

/** https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/ */
export function mutatingWebhook(deps: ServerDependencies & { authorizer: Authorizer }): AdmissionPlugin {
  const configurations = deps.stores.for(MutatingWebhookConfigurations);
  const dispatcher = new WebhookDispatcher(deps);
  return {
    name: 'MutatingAdmissionWebhook',
    handles: (a) => !isExempt(a) && configurations.list().length > 0,
    mutate: async (a) => {
      const webhooks = configurations.list().flatMap((configuration) => configuration.webhooks ?? []);
      let { object } = a;
      const seen = new Map<MutatingWebhook, KubeObject | undefined>();
      for (const webhook of webhooks) {
        const response = await dispatcher.ask(webhook, { ...a, object });
        if (!response) continue;
        if (response.patch && object) object = applyJsonPatch(object, response.patch) as KubeObject;
        seen.set(webhook, object);
      }
      // Who asked for it sees once more what others have changed since.
      for (const [webhook, then] of seen) {
        if (webhook.reinvocationPolicy !== 'IfNeeded' || deepEqual(then, object)) continue;
        const response = await dispatcher.ask(webhook, { ...a, object });
        if (response?.patch && object) object = applyJsonPatch(object, response.patch) as KubeObject;
      }
      return object;
    },
    // Nothing of a deletion can be changed, but it can be refused.
    validate: async (a) => {
      if (a.operation !== 'DELETE') return;
      for (const configuration of configurations.list()) {
        for (const webhook of configuration.webhooks ?? []) await dispatcher.ask(webhook, a);
      }
    },
  };
}
