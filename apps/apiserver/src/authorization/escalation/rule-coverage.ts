import type { PolicyRule } from '@tinkernetes/api';

/** One verb on one resource (and name) or path. */
export interface SimpleRule {
  readonly verb: string;
  readonly apiGroup?: string;
  readonly resource?: string;
  readonly resourceName?: string;
  readonly nonResourceURL?: string;
}

/** The single permissions in `rules` that `owned` doesn't cover. Source: k8s.io/component-helpers/auth/rbac/validation.Covers. */
export const uncovered = (owned: readonly PolicyRule[], rules: readonly PolicyRule[]): SimpleRule[] =>
  rules.flatMap(breakDown).filter((simple) => !owned.some((rule) => covers(rule, simple)));

function breakDown(rule: PolicyRule): SimpleRule[] {
  const out: SimpleRule[] = [];
  for (const apiGroup of rule.apiGroups ?? []) {
    for (const resource of rule.resources ?? []) {
      for (const verb of rule.verbs) {
        const names = rule.resourceNames?.length ? rule.resourceNames : [undefined];
        for (const resourceName of names)
          out.push({ verb, apiGroup, resource, ...(resourceName && { resourceName }) });
      }
    }
  }
  for (const nonResourceURL of rule.nonResourceURLs ?? []) {
    for (const verb of rule.verbs) out.push({ verb, nonResourceURL });
  }
  return out;
}

const has = (list: readonly string[] | undefined, value: string): boolean =>
  list !== undefined && (list.includes('*') || list.includes(value));

function covers(owner: PolicyRule, wanted: SimpleRule): boolean {
  if (!has(owner.verbs, wanted.verb)) return false;
  const { nonResourceURL: url, apiGroup = '', resource = '', resourceName } = wanted;
  if (url !== undefined) {
    return (owner.nonResourceURLs ?? []).some(
      (own) => own === '*' || own === url || (own.endsWith('*') && url.startsWith(own.replace(/\*+$/, ''))),
    );
  }
  const names = owner.resourceNames ?? [];
  return (
    has(owner.apiGroups, apiGroup) &&
    coversResource(owner.resources ?? [], resource) &&
    (names.length === 0 || (resourceName !== undefined && names.includes(resourceName)))
  );
}

function coversResource(owned: readonly string[], resource: string): boolean {
  if (owned.includes('*') || owned.includes(resource)) return true;
  const slash = resource.indexOf('/');
  return slash >= 0 && owned.includes(`*${resource.slice(slash)}`);
}

/** Permissions on the same thing in one line each, as upstream prints rules. Source: rbac/v1 helpers CompactString. */
export function describeRules(simple: readonly SimpleRule[]): string[] {
  const merged = new Map<string, { rule: SimpleRule; verbs: string[] }>();
  for (const rule of simple) {
    const { apiGroup, resource, resourceName, nonResourceURL } = rule;
    const key = JSON.stringify([apiGroup, resource, resourceName, nonResourceURL]);
    const same = merged.get(key);
    if (!same) merged.set(key, { rule, verbs: [rule.verb] });
    else if (!same.verbs.includes(rule.verb)) same.verbs.push(rule.verb);
  }
  const lines = [...merged.values()].map(({ rule, verbs }) =>
    [
      part('APIGroups', rule.apiGroup),
      part('Resources', rule.resource),
      part('NonResourceURLs', rule.nonResourceURL),
      part('ResourceNames', rule.resourceName),
      `Verbs:${goStrings(verbs)}`,
    ]
      .filter((text) => text !== undefined)
      .join(', '),
  );
  return [...new Set(lines.map((line) => `{${line}}`))].sort();
}

const part = (name: string, value: string | undefined): string | undefined =>
  value === undefined ? undefined : `${name}:${goStrings([value])}`;

/** A slice of strings as Go's `%q` prints it. */
export const goStrings = (values: readonly string[]): string =>
  `[${values.map((value) => JSON.stringify(value)).join(' ')}]`;
