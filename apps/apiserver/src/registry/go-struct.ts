import { loadInternalFields } from '@tinkernetes/api';
import { isObject } from '@tinkernetes/apimachinery';

/**
 * An object as upstream's messages show it: the struct that its server works with inside, every field under its Go name
 * and in Go's order, whether it is set or not. `type`: name of the struct, e.g. `PodSpec`.
 */
export function goStruct(value: unknown, type: string): unknown {
  const fields = loadInternalFields()[type];
  if (fields === undefined) return value;
  const source = isObject(value) ? byLowerCase(value) : new Map<string, unknown>();
  const shown: Record<string, unknown> = {};
  for (const field of fields.split(' ').filter(Boolean)) {
    if (field === '@ObjectMeta') {
      Object.assign(shown, source.get('metadata'));
      continue;
    }
    const [name = '', kind = ''] = field.split(':');
    shown[name] = goValue(memberOf(source, name, type), kind);
  }
  return shown;
}

/** Of the host's namespaces the versioned specification tells itself, the internal one its security context. */
const ofSecurityContext = new Set([
  'hostnetwork',
  'hostpid',
  'hostipc',
  'shareprocessnamespace',
  'hostusers',
]);

function memberOf(source: ReadonlyMap<string, unknown>, name: string, type: string): unknown {
  const value = source.get(name.toLowerCase());
  if (type !== 'PodSpec' || name !== 'SecurityContext' || !isObject(value)) return value;
  const moved = [...source].filter(([key]) => ofSecurityContext.has(key));
  return { ...value, ...Object.fromEntries(moved) };
}

/** Go's names differ from those on the wire by their case alone. */
const byLowerCase = (value: Record<string, unknown>): Map<string, unknown> =>
  new Map(Object.entries(value).map(([key, member]) => [key.toLowerCase(), member]));

function goValue(value: unknown, kind: string): unknown {
  if (kind.startsWith('*'))
    return value === undefined || value === null ? null : goValue(value, kind.slice(1));
  if (kind.startsWith('[]'))
    return Array.isArray(value) ? value.map((element) => goValue(element, kind.slice(2))) : null;
  if (kind.startsWith('{}'))
    return isObject(value)
      ? Object.fromEntries(
          Object.entries(value).map(([key, member]) => [key, goValue(member, kind.slice(2))]),
        )
      : null;
  switch (kind) {
    case 's':
      return value ?? '';
    case 'n':
    case 'IntOrString':
      return value ?? 0;
    case 'b':
      return value ?? false;
    case 'Quantity':
      return value ?? '0';
    default:
      return kind in loadInternalFields() ? goStruct(value, kind) : (value ?? null);
  }
}
