import { UsageError } from '@tinkernetes/component-base';
import type { Authorizer, CreateAuthorizer, ServerDependencies } from '../contracts';
import { createAbacAuthorizer } from './abac-authorizer';
import { NodeAuthorizer } from './node/node-authorizer';
import { NodeGraph } from './node/node-graph';
import { RbacAuthorizer } from './rbac-authorizer';
import { RuleResolver } from './rule-resolver';
import {
  alwaysAllowAuthorizer,
  alwaysDenyAuthorizer,
  privilegedGroupAuthorizer,
  unionAuthorizer,
} from './simple-authorizers';
import { WebhookAuthorizer } from './webhook-authorizer';

export { RbacAuthorizer } from './rbac-authorizer';
export { RuleResolver } from './rule-resolver';

/** By the names that `--authorization-mode` takes. */
const modes: Readonly<Record<string, (deps: ServerDependencies) => Authorizer>> = {
  AlwaysAllow: () => alwaysAllowAuthorizer,
  AlwaysDeny: () => alwaysDenyAuthorizer,
  ABAC: ({ options }) =>
    createAbacAuthorizer(required(options.authorizationPolicyFile, '--authorization-policy-file')),
  Webhook: ({ options, context }) =>
    new WebhookAuthorizer(
      required(options.authorizationWebhookConfigFile, '--authorization-webhook-config-file'),
      context,
    ),
  Node: ({ stores }) => new NodeAuthorizer(new NodeGraph(stores)),
  RBAC: ({ stores }) => new RbacAuthorizer(new RuleResolver(stores)),
};

function required(file: string | undefined, flag: string): string {
  if (!file) throw new UsageError(`this --authorization-mode needs ${flag}`);
  return file;
}

/** system:masters, then the authorizers of `--authorization-mode` in their order. */
export const createAuthorizer: CreateAuthorizer = (deps) => {
  const authorizers = deps.options.authorizationModes.map((mode) => {
    const create = modes[mode];
    if (!create) {
      throw new UsageError(`--authorization-mode=${mode}: must be one of ${Object.keys(modes).join(', ')}`);
    }
    return create(deps);
  });
  return unionAuthorizer([privilegedGroupAuthorizer, ...authorizers]);
};
