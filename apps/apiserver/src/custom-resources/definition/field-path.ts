import { child, mapKey } from '@tinkernetes/apimachinery';
import { propertyOf, type Schema } from '../structural-schema';

/** Where a path leads in a schema; `schema` is undefined where nothing is known of what is there. */
export interface FoundField {
  readonly path: string;
  readonly schema: Schema | undefined;
}

/** Why a path leads nowhere. */
export class FieldPathError extends Error {
  override readonly name = 'FieldPathError';
}

const tokens = /'(?:\\.|[^'\\])*'|[.[\]]|[^.[\]]+/g;

/**
 * Follows a path like `.spec.ports['a'].name` through a schema. Throws FieldPathError. Source:
 * apiextensions-apiserver/pkg/apiserver/schema/cel.ValidFieldPath.
 */
export function followFieldPath(text: string, schema: Schema, { allowsKeys = true } = {}): FoundField {
  const parts = text.match(tokens) ?? [];
  let found: FoundField = { path: '', schema };
  const next = parts[Symbol.iterator]();
  const take = (): string => {
    const { value, done } = next.next();
    if (done === true) throw new FieldPathError('unexpected end of JSON path');
    return value;
  };
  for (const token of { [Symbol.iterator]: () => next }) {
    if (token === '.') found = step(found, take());
    else if (token === '[') {
      if (!allowsKeys) throw new FieldPathError('array notation is not allowed');
      const key = take();
      if (!/^'.*'$/s.test(key)) throw new FieldPathError(`expected single quoted string but got ${key}`);
      found = step(found, key.slice(1, -1).replace(/\\(.)/g, '$1'));
      const end = take();
      if (end !== ']') throw new FieldPathError(`expected ] but got ${end}`);
    } else throw new FieldPathError(`expected [ or . but got: ${token}`);
  }
  return found;
}

function step({ path, schema }: FoundField, name: string): FoundField {
  const hasProperties = Object.keys(schema?.properties ?? {}).length > 0;
  const values = schema?.additionalProperties;
  const property = schema && hasProperties ? propertyOf(schema, name) : undefined;
  if (property) return { path: child(path, name), schema: property };
  if (hasProperties || values === undefined) throw new FieldPathError('does not refer to a valid field');
  return { path: mapKey(path, name), schema: typeof values === 'object' ? (values as Schema) : undefined };
}
