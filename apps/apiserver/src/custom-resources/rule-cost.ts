import { isObject } from '@tinkernetes/apimachinery';
import { itemsOf, propertyOf, valuesOf, type Schema } from './structural-schema';

/** What one rule, and all rules of a schema, may cost in the worst case. Source: apiextensions-apiserver/pkg/apis/apiextensions/validation. */
export const ruleCostLimit = 10_000_000;
export const schemaCostLimit = 100_000_000;

/** A request body holds at most this many bytes, which bounds every list that its schema does not. */
const maxBody = 3 * 1024 * 1024;

/**
 * The worst case of a rule, as far as loops over lists and maps make it: each runs once for every element that the
 * schema allows, and loops within loops multiply.
 */
export function estimatedCost(expression: string, self: Schema): number {
  let cost = 1;
  for (const loop of loopsIn(expression)) {
    cost += elementsOf(schemaAt(loop.range, self)) * (1 + estimatedCost(loop.body, self));
  }
  return cost;
}

interface Loop {
  /** What it runs over: `self.items`. */
  range: string;
  body: string;
}

const macro = /((?:self|oldSelf)(?:\.\w+)*)\.(?:all|exists|exists_one|existsOne|map|filter)\(/g;

/** The outermost loops of an expression over parts of `self`. */
function loopsIn(expression: string): Loop[] {
  const loops: Loop[] = [];
  macro.lastIndex = 0;
  for (let match = macro.exec(expression); match; match = macro.exec(expression)) {
    const end = closingParenthesis(expression, macro.lastIndex);
    loops.push({ range: match[1] ?? 'self', body: expression.slice(macro.lastIndex, end) });
    macro.lastIndex = end;
  }
  return loops;
}

function closingParenthesis(text: string, from: number): number {
  let depth = 1;
  for (let at = from; at < text.length; at++) {
    if (text[at] === '(') depth++;
    else if (text[at] === ')' && --depth === 0) return at;
  }
  return text.length;
}

const schemaAt = (range: string, self: Schema): Schema | undefined =>
  range
    .split('.')
    .slice(1)
    .reduce<Schema | undefined>((schema, key) => schema && propertyOf(schema, key), self);

/** How many elements a list or map can have. */
function elementsOf(schema: Schema | undefined): number {
  if (!schema) return 1;
  const items = itemsOf(schema);
  if (items) return schema.maxItems ?? Math.floor(maxBody / smallestSize(items));
  const values = valuesOf(schema);
  return values ? (schema.maxProperties ?? Math.floor(maxBody / (smallestSize(values) + 3))) : 1;
}

/** Bytes that a value takes at least, with the comma behind it. */
function smallestSize(schema: Schema): number {
  switch (schema.type) {
    case 'string':
      return 3;
    case 'object':
      return 3 + (schema.required ?? []).reduce((sum, name) => sum + name.length + 4, 0);
    case 'array':
      return 3;
    case 'boolean':
      return 5;
    default:
      return 2;
  }
}

/** `more than 100x`, `2.3x`. */
export function excess(cost: number, limit: number): string {
  const factor = cost / limit;
  return factor > 100 ? 'more than 100x' : `${factor.toFixed(1)}x`;
}

export const isScalar = (schema: Schema): boolean =>
  !isObject(schema.properties) && ['string', 'integer', 'number', 'boolean'].includes(schema.type ?? '');
