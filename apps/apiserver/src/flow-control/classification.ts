import type {
  FlowcontrolV1Subject,
  FlowSchema,
  NonResourcePolicyRule,
  PolicyRulesWithSubjects,
  ResourcePolicyRule,
} from '@tinkernetes/api';
import type { RequestInfo, UserInfo } from '../contracts';

/** What FlowSchemas look at. */
export interface RequestDigest {
  readonly info: RequestInfo;
  readonly user: UserInfo;
}

const all = '*';
const serviceAccountPrefix = 'system:serviceaccount:';

/** The order in which FlowSchemas are asked: by precedence, then by name. */
export const byPrecedence = (a: FlowSchema, b: FlowSchema): number =>
  (a.spec.matchingPrecedence ?? 0) - (b.spec.matchingPrecedence ?? 0) ||
  ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1);

/** Source: k8s.io/apiserver/pkg/util/flowcontrol/rule.go. */
export const matches = ({ spec }: FlowSchema, digest: RequestDigest): boolean =>
  (spec.rules ?? []).some((rule) => matchesRule(rule, digest));

function matchesRule(
  { subjects, resourceRules = [], nonResourceRules = [] }: PolicyRulesWithSubjects,
  { info, user }: RequestDigest,
): boolean {
  if (!subjects.some((subject) => matchesSubject(subject, user))) return false;
  return info.isResourceRequest
    ? resourceRules.some((rule) => matchesResource(rule, info))
    : nonResourceRules.some((rule) => matchesPath(rule, info));
}

function matchesSubject(
  { kind, user, group, serviceAccount }: FlowcontrolV1Subject,
  asking: UserInfo,
): boolean {
  switch (kind) {
    case 'User':
      return user !== undefined && (user.name === all || user.name === asking.name);
    case 'Group':
      return group !== undefined && (group.name === all || asking.groups.includes(group.name));
    case 'ServiceAccount': {
      if (!serviceAccount) return false;
      const prefix = `${serviceAccountPrefix}${serviceAccount.namespace}:`;
      if (serviceAccount.name === all) return asking.name.startsWith(prefix);
      return asking.name === prefix + serviceAccount.name;
    }
    default:
      return false;
  }
}

const includes = (values: readonly string[] | undefined, value: string): boolean =>
  values !== undefined && (values.includes(value) || values.includes(all));

function matchesResource(rule: ResourcePolicyRule, info: RequestInfo): boolean {
  const resource = info.subresource ? `${info.resource}/${info.subresource}` : info.resource;
  return (
    includes(rule.verbs, info.verb) &&
    includes(rule.resources, resource) &&
    includes(rule.apiGroups, info.apiGroup) &&
    (info.namespace === '' ? rule.clusterScope === true : includes(rule.namespaces, info.namespace))
  );
}

/** Paths may end in a wildcard for all that is below them: `/healthz/*`. */
const matchesPath = (
  { verbs, nonResourceURLs }: NonResourcePolicyRule,
  { verb, path }: RequestInfo,
): boolean =>
  includes(verbs, verb) &&
  nonResourceURLs.some(
    (url) => url === all || url === path || (url.endsWith('/*') && path.startsWith(url.slice(0, -1))),
  );

/** Requests of one flow wait together: who asks or for which namespace, as the FlowSchema says. */
export function distinguisherOf({ spec }: FlowSchema, { info, user }: RequestDigest): string {
  switch (spec.distinguisherMethod?.type) {
    case 'ByUser':
      return user.name;
    case 'ByNamespace':
      return info.namespace;
    default:
      return '';
  }
}
