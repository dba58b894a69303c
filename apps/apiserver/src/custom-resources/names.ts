import type { CustomResourceDefinition, CustomResourceDefinitionNames } from '@tinkernetes/api';

/** Names with what upstream fills in where they were left out. */
export function withDefaultNames(names: CustomResourceDefinitionNames): CustomResourceDefinitionNames {
  return {
    ...names,
    singular: names.singular || (names.kind ?? '').toLowerCase(),
    listKind: names.listKind || (names.kind ? `${names.kind}List` : undefined),
  };
}

/**
 * The first of a definition's names that another accepted one of its group has already, and whose; undefined when
 * all are free. Source: apiextensions-apiserver/pkg/controller/status.
 */
export function nameConflict(
  definition: CustomResourceDefinition,
  others: readonly CustomResourceDefinition[],
): { reason: string; message: string } | undefined {
  const { group, names } = definition.spec;
  const taken = new Set<string>();
  const kinds = new Set<string>();
  for (const other of others) {
    if (other.spec.group !== group || other.metadata.uid === definition.metadata.uid) continue;
    const accepted = other.status?.acceptedNames;
    for (const name of [accepted?.plural, accepted?.singular, ...(accepted?.shortNames ?? [])])
      if (name) taken.add(name);
    for (const kind of [accepted?.kind, accepted?.listKind]) if (kind) kinds.add(kind);
  }
  const checks: [string, string | undefined, Set<string>][] = [
    ['PluralConflict', names.plural, taken],
    ['SingularConflict', names.singular, taken],
    ...(names.shortNames ?? []).map((name): [string, string, Set<string>] => [
      'ShortNamesConflict',
      name,
      taken,
    ]),
    ['KindConflict', names.kind, kinds],
    ['ListKindConflict', names.listKind, kinds],
  ];
  for (const [reason, name, used] of checks) {
    if (name && used.has(name)) return { reason, message: `"${name}" is already in use` };
  }
  return undefined;
}
