import { readFileSync } from 'node:fs';
import { UsageError } from '@tinkernetes/component-base';
import type { AuthorizationAttributes, Authorizer } from '../contracts';

/** A line of `--authorization-policy-file`. */
export interface AbacPolicy {
  readonly user?: string;
  readonly group?: string;
  readonly readonly?: boolean;
  readonly apiGroup?: string;
  readonly resource?: string;
  readonly namespace?: string;
  readonly nonResourcePath?: string;
}

const readOnlyVerbs: ReadonlySet<string> = new Set(['get', 'list', 'watch']);

/** Allows what a line of the file allows. https://kubernetes.io/docs/reference/access-authn-authz/abac/ */
export function createAbacAuthorizer(file: string): Authorizer {
  const policies = parsePolicies(readFileSync(file, 'utf8'), file);
  return {
    name: 'ABAC',
    authorize: (attributes) =>
      policies.some((policy) => policyAllows(policy, attributes))
        ? { decision: 'allow', reason: '' }
        : { decision: 'no-opinion', reason: 'No policy matched.' },
  };
}

/** One JSON object a line; throws UsageError that names the line. */
export function parsePolicies(text: string, file: string): AbacPolicy[] {
  return text.split('\n').flatMap((line, i) => {
    if (line.trim() === '' || line.trimStart().startsWith('#')) return [];
    try {
      const { kind, spec } = JSON.parse(line) as { kind?: string; spec?: AbacPolicy };
      if (kind === 'Policy' && spec) return [spec];
    } catch (error) {
      throw new UsageError(`${file}:${i + 1}: ${error instanceof Error ? error.message : String(error)}`);
    }
    throw new UsageError(`${file}:${i + 1}: must be a Policy with a spec`);
  });
}

export function policyAllows(policy: AbacPolicy, a: AuthorizationAttributes): boolean {
  return subjectMatches(policy, a) && verbMatches(policy, a) && targetMatches(policy, a);
}

function subjectMatches(
  { user = '', group = '' }: AbacPolicy,
  { user: who }: AuthorizationAttributes,
): boolean {
  if (user === '' && group === '') return false;
  const isUser = user === '' || user === '*' || user === who.name;
  return isUser && (group === '' || group === '*' || who.groups.includes(group));
}

const verbMatches = (policy: AbacPolicy, { verb }: AuthorizationAttributes): boolean =>
  !policy.readonly || readOnlyVerbs.has(verb);

const covers = (wanted: string | undefined, value: string): boolean =>
  wanted === '*' || (wanted ?? '') === value;

function targetMatches(policy: AbacPolicy, a: AuthorizationAttributes): boolean {
  if (a.isResourceRequest) {
    return (
      covers(policy.namespace, a.namespace) &&
      covers(policy.resource, a.resource) &&
      covers(policy.apiGroup, a.apiGroup)
    );
  }
  const path = policy.nonResourcePath ?? '';
  return (
    path === '*' || path === a.path || (path.endsWith('*') && a.path.startsWith(path.replace(/\*+$/, '')))
  );
}
