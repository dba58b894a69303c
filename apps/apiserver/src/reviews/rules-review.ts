import type { PolicyRule, SelfSubjectRulesReview } from '@tinkernetes/api';
import { badRequest } from '@tinkernetes/apimachinery';
import { RuleResolver } from '../authorization';
import { nodeNameOf } from '../authorization/node/node-identity';
import type { HandlerDependencies, SubresourceHandler } from '../contracts';
import { withSpec } from './review-error';

/**
 * What I may do in a namespace, as RBAC has it; the Node authorizer can't list its rules, so the answer to a
 * kubelet says that it is incomplete. Source: k8s.io/kubernetes/pkg/registry/authorization/selfsubjectrulesreview.
 */
export function createSelfSubjectRulesReview({
  io,
  stores,
  options,
}: HandlerDependencies): SubresourceHandler {
  const resolver = new RuleResolver(stores);
  return async (request) => {
    const kind = { group: 'authorization.k8s.io', version: 'v1', kind: 'SelfSubjectRulesReview' };
    const review = withSpec((await io.readObject(request, kind)) as SelfSubjectRulesReview);
    const { namespace } = review.spec;
    if (!namespace) throw badRequest('no namespace on request');
    const rules: PolicyRule[] = [];
    const errors: string[] = [];
    if (options.authorizationModes.includes('RBAC')) {
      for (const resolved of resolver.resolve(request.user, namespace)) {
        if (resolved.error === undefined) rules.push(...resolved.rules);
        else errors.push(resolved.error);
      }
    }
    if (options.authorizationModes.includes('Node') && nodeNameOf(request.user) !== undefined) {
      errors.push('node authorizer does not support user rule resolution');
    }
    // Nothing of what was sent is told again.
    io.respond(request, 201, {
      kind: review.kind,
      apiVersion: review.apiVersion,
      metadata: {},
      spec: {},
      status: {
        resourceRules: rules.filter((rule) => rule.resources?.length).map(resourceRule),
        nonResourceRules: rules.filter((rule) => rule.nonResourceURLs?.length).map(nonResourceRule),
        incomplete: errors.length > 0,
        ...(errors.length > 0 && { evaluationError: errors.join(', ') }),
      },
    });
  };
}

const resourceRule = ({ verbs, apiGroups, resources, resourceNames }: PolicyRule) => ({
  verbs,
  apiGroups,
  resources,
  ...(resourceNames?.length && { resourceNames }),
});

const nonResourceRule = ({ verbs, nonResourceURLs }: PolicyRule) => ({ verbs, nonResourceURLs });
