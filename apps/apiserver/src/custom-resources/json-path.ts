import { isObject } from '@tinkernetes/apimachinery';
import { LruMap } from '@tinkernetes/component-base';

type Step = { kind: 'field'; name: string } | { kind: 'index'; at: number } | { kind: 'all' } | Filter;
interface Filter {
  kind: 'filter';
  path: readonly string[];
  equals: string;
}

/**
 * The values at a printer column's path: fields, `[0]`, `[*]` and `[?(@.type=="Ready")]`. Source:
 * https://kubernetes.io/docs/reference/kubectl/jsonpath/
 */
export function valuesAtJsonPath(object: unknown, path: string): unknown[] {
  let values: unknown[] = [object];
  for (const step of parsed.getOrCreate(path, () => stepsOf(path)))
    values = values.flatMap((value) => take(value, step));
  return values;
}

function take(value: unknown, step: Step): unknown[] {
  switch (step.kind) {
    case 'field':
      return isObject(value) && Object.hasOwn(value, step.name) ? [value[step.name]] : [];
    case 'index':
      return Array.isArray(value) && value.at(step.at) !== undefined ? [value.at(step.at)] : [];
    case 'all':
      return Array.isArray(value) ? value : isObject(value) ? Object.values(value) : [];
    case 'filter':
      return Array.isArray(value) ? value.filter((item) => matches(item, step)) : [];
  }
}

function matches(item: unknown, { path, equals }: Filter): boolean {
  let value = item;
  for (const name of path) value = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  return String(value) === equals;
}

const token =
  /\.([\w$-]+)|\[['"]([^'"]+)['"]\]|\[(-?\d+)\]|\[\*\]|\[\?\(@((?:\.[\w-]+)+)\s*==\s*['"]?([^'")]*)['"]?\)\]/gy;

const parsed = new LruMap<string, readonly Step[]>(1000);

function stepsOf(path: string): readonly Step[] {
  const steps: Step[] = [];
  const text = path.replace(/\\\./g, '\u0000');
  token.lastIndex = 0;
  for (let match = token.exec(text); match; match = token.exec(text)) {
    const [, name, quoted, index, filterPath, equals] = match;
    const field = (name ?? quoted)?.replaceAll('\u0000', '.');
    if (field !== undefined) steps.push({ kind: 'field', name: field });
    else if (index !== undefined) steps.push({ kind: 'index', at: Number(index) });
    else if (filterPath !== undefined) {
      steps.push({ kind: 'filter', path: filterPath.split('.').slice(1), equals: equals ?? '' });
    } else steps.push({ kind: 'all' });
  }
  return steps;
}
