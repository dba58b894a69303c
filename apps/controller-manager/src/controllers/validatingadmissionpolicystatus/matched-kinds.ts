import type { NamedRuleWithOperations, ValidatingAdmissionPolicy } from '@tinkernetes/api';
import { StatusError } from '@tinkernetes/apimachinery';
import type { Client } from '@tinkernetes/client';

export interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

interface APIResourceList {
  readonly resources: ReadonlyArray<{ name: string; singularName: string; kind: string }>;
}

/** Of a rule; so many types at most are looked at, as upstream. */
const maxKinds = 10;

const isConcrete = (names: readonly string[]): boolean => names.every((name) => !name.includes('*'));

/** A kind that nobody serves, or whose own server is down, is not checked; a policy must not wait for it. */
export function ignoreUnserved(error: unknown): undefined {
  if (error instanceof StatusError && ['NotFound', 'ServiceUnavailable'].includes(error.reason))
    return undefined;
  throw error;
}

/** `/apis/apps/v1`, `/api/v1` */
export const groupVersionPath = ({ group, version }: Omit<GroupVersionKind, 'kind'>): string =>
  group === '' ? `/api/${version}` : `/apis/${group}/${version}`;

/**
 * The kinds that a policy's rules name, sorted; rules with wildcards name none. Source:
 * k8s.io/apiserver/pkg/admission/plugin/policy/validating/typechecking.go.
 */
export async function matchedKinds(
  client: Client,
  { spec }: ValidatingAdmissionPolicy,
  signal: AbortSignal,
): Promise<GroupVersionKind[]> {
  const kinds = new Map<string, GroupVersionKind>();
  for (const rule of spec.matchConstraints?.resourceRules ?? []) {
    const ofRule = await kindsOfRule(client, rule, signal);
    for (const kind of ofRule) kinds.set(shown(kind), kind);
    if (ofRule.length === maxKinds) break;
  }
  const key = ({ group, version, kind }: GroupVersionKind) => `${group}\n${version}\n${kind}`;
  return [...kinds.values()].sort((a, b) => (key(a) < key(b) ? -1 : 1));
}

async function kindsOfRule(
  client: Client,
  { apiGroups = [], apiVersions = [], resources = [] }: NamedRuleWithOperations,
  signal: AbortSignal,
): Promise<GroupVersionKind[]> {
  if (!isConcrete(apiGroups) || !isConcrete(apiVersions)) return [];
  const names = resources.filter((name) => !/[*/]/.test(name)).sort();
  const found: GroupVersionKind[] = [];
  for (const group of [...apiGroups].sort()) {
    for (const version of [...apiVersions].sort()) {
      const list = await client
        .request<APIResourceList>({ method: 'GET', path: groupVersionPath({ group, version }), signal })
        .catch(ignoreUnserved);
      for (const name of names) {
        const resource = list?.resources.find((r) => r.name === name || r.singularName === name);
        if (resource) found.push({ group, version, kind: resource.kind });
        if (found.length === maxKinds) return found;
      }
    }
  }
  return found;
}

/** `apps/v1, Kind=Deployment`, as Go prints it. */
export const shown = ({ group, version, kind }: GroupVersionKind): string =>
  `${group}/${version}, Kind=${kind}`;
