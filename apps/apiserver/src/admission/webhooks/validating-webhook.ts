import { ValidatingWebhookConfigurations } from '@tinkernetes/api';
import type { AdmissionPlugin, Authorizer, ServerDependencies } from '../../contracts';
import { isExempt } from '../policies/rule-matching';
import { WebhookDispatcher } from './dispatcher';

/** https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/ */
export function validatingWebhook(deps: ServerDependencies & { authorizer: Authorizer }): AdmissionPlugin {
  const configurations = deps.stores.for(ValidatingWebhookConfigurations);
  const dispatcher = new WebhookDispatcher(deps);
  return {
    name: 'ValidatingAdmissionWebhook',
    handles: (a) => !isExempt(a) && configurations.list().length > 0,
    validate: async (a) => {
      const webhooks = configurations.list().flatMap((configuration) => configuration.webhooks ?? []);
      // All at once: none sees what another has said.
      await Promise.all(webhooks.map((webhook) => dispatcher.ask(webhook, a)));
    },
  };
}
