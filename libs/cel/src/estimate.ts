import type { ASTNode } from '@marcbachmann/cel-js';
import { isComprehension } from './ast';

/** What is known of a value before there is one: how large it can be, and what is in it. */
export interface Shape {
  /** Elements of a list or map, bytes of a string; 1 for everything else. */
  readonly size: number;
  readonly kind: 'string' | 'list' | 'map' | 'other';
  /** A field, or undefined where nothing is known of it. */
  member(name: string): Shape | undefined;
  /** What a list or map consists of. */
  readonly element?: Shape;
  /** Keys of a map. */
  readonly key?: Shape;
}

interface Estimate {
  readonly cost: number;
  readonly shape: Shape;
}

/** Loop variables and others by name. */
type Scope = ReadonlyMap<string, Shape>;

const listCost = 10;
const mapCost = 30;
const traversal = 0.1;
const regexTraversal = 0.25;

const other: Shape = { size: 1, kind: 'other', member: () => undefined };
const sized = (kind: Shape['kind'], size: number, element?: Shape): Shape => ({
  ...other,
  kind,
  size,
  element,
});
const traversed = ({ size }: Shape): number => Math.ceil(size * traversal);

/**
 * The most that an expression can cost over values of the given shapes.
 * Source: cel-go checker/cost.go and k8s.io/apiserver/pkg/cel/library/cost.go.
 */
export const estimateCost = (node: ASTNode, variables: Readonly<Record<string, Shape>>): number =>
  visit(node, new Map(Object.entries(variables))).cost;

function visit(node: ASTNode, scope: Scope): Estimate {
  switch (node.op) {
    case 'value':
      return { cost: 0, shape: typeof node.args === 'string' ? sized('string', node.args.length) : other };
    case 'id':
      return { cost: 1, shape: scope.get(node.args) ?? other };
    case '.':
    case '.?': {
      const { cost, shape } = visit(node.args[0], scope);
      return { cost: cost + 1, shape: shape.member(node.args[1]) ?? shape.element ?? other };
    }
    case '[]':
    case '[?]': {
      const [object, index] = node.args.map((part) => visit(part, scope)) as [Estimate, Estimate];
      const literal = node.args[1].op === 'value' ? String(node.args[1].args) : undefined;
      const member = literal === undefined ? undefined : object.shape.member(literal);
      return { cost: object.cost + index.cost + 1, shape: member ?? object.shape.element ?? other };
    }
    case 'list': {
      const items = node.args.map((item) => visit(item, scope));
      return { cost: listCost + sum(items), shape: sized('list', items.length, largest(items)) };
    }
    case 'map': {
      const items = node.args.flat().map((item) => visit(item, scope));
      return { cost: mapCost + sum(items), shape: sized('map', node.args.length, largest(items)) };
    }
    case '?:': {
      const [condition, left, right] = node.args.map((part) => visit(part, scope)) as [
        Estimate,
        Estimate,
        Estimate,
      ];
      return { cost: condition.cost + Math.max(left.cost, right.cost), shape: largest([left, right]) };
    }
    case '||':
    case '&&':
      return { cost: sum(node.args.map((part) => visit(part, scope))), shape: other };
    case '!_':
    case '-_':
      return { cost: visit(node.args, scope).cost + 1, shape: other };
    case 'call':
      return called(
        node.args[0],
        node.args[1].map((arg) => visit(arg, scope)),
      );
    case 'rcall':
      return receiverCall(node.args, scope);
    default:
      return operated(node.op, node.args.map((part) => visit(part, scope)) as [Estimate, Estimate]);
  }
}

const sum = (estimates: readonly Estimate[]): number =>
  estimates.reduce((total, { cost }) => total + cost, 0);

/** The shape of the largest; values of several branches or elements are like it. */
const largest = (estimates: readonly Estimate[]): Shape =>
  estimates.reduce<Shape>(
    (best, { shape }) => (shape.size > best.size ? shape : best),
    estimates[0]?.shape ?? other,
  );

function operated(op: string, [left, right]: [Estimate, Estimate]): Estimate {
  const [a, b] = [left.shape, right.shape];
  const operands = left.cost + right.cost;
  if (op === 'in') return { cost: operands + (b.kind === 'list' ? b.size : 1), shape: other };
  if (op === '+') {
    const kind = a.kind === 'other' ? b.kind : a.kind;
    if (kind === 'other') return { cost: operands + 1, shape: other };
    const size = a.size + b.size;
    return { cost: operands + Math.ceil(size * traversal), shape: sized(kind, size, a.element ?? b.element) };
  }
  // Values are compared to the end of the shorter one.
  return { cost: operands + Math.ceil(Math.min(a.size, b.size) * traversal), shape: other };
}

function receiverCall([name, receiver, args]: [string, ASTNode, ASTNode[]], scope: Scope): Estimate {
  const [variable, value, body] = args;
  if (
    name === 'bind' &&
    receiver.op === 'id' &&
    receiver.args === 'cel' &&
    variable?.op === 'id' &&
    value &&
    body
  ) {
    const bound = visit(value, scope);
    const inner = visit(body, new Map(scope).set(variable.args, bound.shape));
    return { cost: bound.cost + inner.cost + 1, shape: inner.shape };
  }
  if (isComprehension(name) && args.length > 1)
    return comprehension(name, visit(receiver, scope), args, scope);
  return called(
    name,
    [receiver, ...args].map((part) => visit(part, scope)),
  );
}

/** What a comprehension does for each element beside its body, and once at its end. */
const loopCosts: Readonly<Record<string, readonly [each: number, end: number]>> = {
  all: [3, 1],
  exists: [4, 1],
  exists_one: [2, 2],
  existsOne: [2, 2],
  filter: [listCost + 3, 1],
};
const transformCosts = [listCost + 2, 1] as const;

function comprehension(name: string, range: Estimate, args: readonly ASTNode[], scope: Scope): Estimate {
  const hasTwo = args.length > 3 || (args.length === 3 && name !== 'map');
  const names = args.slice(0, hasTwo ? 2 : 1).map((node) => (node.op === 'id' ? node.args : ''));
  const { size, kind, element = other, key = other } = range.shape;
  const single = kind === 'map' ? key : element;
  const inner = new Map(scope);
  names.forEach((variable, i) => inner.set(variable, !hasTwo ? single : i === 0 ? key : element));
  const bodies = args.slice(names.length).map((body) => visit(body, inner));
  const [each, end] = loopCosts[name] ?? transformCosts;
  const results = name.startsWith('transformMap') ? 'map' : 'list';
  const made = name === 'filter' ? single : bodies.at(-1)?.shape;
  return {
    cost: range.cost + size * (each + sum(bodies)) + end,
    shape: loopCosts[name] && name !== 'filter' ? other : sized(results, size, made),
  };
}

/** What functions cost beside their arguments, the receiver first; all others cost 1. */
const functionCosts: Readonly<Record<string, (...args: Shape[]) => number>> = {
  startsWith: (_text, prefix = other) => traversed(prefix),
  endsWith: (_text, suffix = other) => traversed(suffix),
  contains: (text = other, part = other) => traversed(text) * traversed(part),
  ...fromList(
    ['matches', 'matchesPattern', 'find', 'findAll'],
    (text = other, pattern = other) =>
      Math.ceil((text.size + 1) * traversal) * Math.ceil(pattern.size * regexTraversal),
  ),
  ...fromList(['isSorted', 'sum', 'min', 'max', 'indexOf', 'lastIndexOf'], (list = other) => list.size),
  ...fromList(
    [
      'lowerAscii',
      'upperAscii',
      'replace',
      'split',
      'substring',
      'trim',
      'join',
      'reverse',
      'format',
      'validate',
    ],
    (text = other) => traversed(text),
  ),
  ...fromList(
    [
      'url',
      'isURL',
      'ip',
      'isIP',
      'cidr',
      'isCIDR',
      'quantity',
      'isQuantity',
      'semver',
      'isSemver',
      'string',
      'bytes',
    ],
    (text = other) => traversed(text),
  ),
  ...fromList(['intersects', 'equivalent'], (_sets, a = other, b = other) => a.size * b.size),
};

function fromList(
  names: readonly string[],
  cost: (...args: Shape[]) => number,
): Record<string, (...args: Shape[]) => number> {
  return Object.fromEntries(names.map((name) => [name, cost]));
}

/** Functions whose result is no text or list, however large their arguments are. */
const predicates: ReadonlySet<string> = new Set([
  'startsWith',
  'endsWith',
  'contains',
  'matches',
  'matchesPattern',
  'isSorted',
  'size',
  'hasMember',
  'int',
  'double',
  'bool',
]);
const makingLists: ReadonlySet<string> = new Set(['split', 'findAll']);

function called(name: string, args: readonly Estimate[]): Estimate {
  const shapes = args.map(({ shape }) => shape);
  const own = Object.hasOwn(functionCosts, name) ? functionCosts[name] : undefined;
  const cost = sum(args) + Math.max(1, own?.(...shapes) ?? 1);
  if (predicates.has(name)) return { cost, shape: other };
  const wide = largest(args);
  return { cost, shape: makingLists.has(name) ? sized('list', wide.size, wide) : wide };
}
