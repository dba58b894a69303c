import type { ASTNode } from '@marcbachmann/cel-js';
import { located } from './engine';

type CheckedNode = ASTNode & { checkedType?: { name: string } };
/** Syntax errors have a place, type errors the node that they are about. */
interface Found extends Error {
  readonly code?: string;
  readonly summary?: string;
  readonly node?: unknown;
}

/**
 * An error of the library's type checker as cel-go's words it; undefined where cel-go would have no objection.
 */
export function checkersWords(error: Found, expression: string): string | undefined {
  const { code, node } = error;
  if (!isNode(node)) return located(error, expression);
  if (comparesObjectWithNull(node)) return undefined;
  const problem = problemOf(code, node, error.summary ?? '');
  if (!problem) return located(error, expression);
  return located(Object.assign(new Error(problem), { node: { pos: placeOf(node, expression) } }), expression);
}

function problemOf(code: string | undefined, node: CheckedNode, summary: string): string | undefined {
  switch (code) {
    case 'no_such_key':
      return `undefined field '${String(argumentsOf(node)[1])}'`;
    case 'cannot_index_type':
      return `type '${typeName(childOf(node, 0))}' does not support field selection`;
    case 'no_such_overload':
    case 'invalid_logical_operand':
    case 'incompatible_ternary_branches':
      return noOverload(functionName(node), `(${operandsOf(node).map(typeName).join(', ')})`);
    case 'no_matching_overload':
      return callProblem(summary);
    default:
      return undefined;
  }
}

const noOverload = (name: string, types: string): string =>
  `found no matching overload for '${name}' applied to '${types}'`;

/** `found no matching overload for 'string.startsWith(int)'` → its function, and what it is applied to. */
function callProblem(summary: string): string | undefined {
  const [, receiver, name = '', types = ''] = /'(?:(.+)\.)?(\w+)\((.*)\)'$/.exec(summary) ?? [];
  if (name === '') return undefined;
  return noOverload(name, `${receiver === undefined ? '' : `${shown(receiver)}.`}(${shown(types)})`);
}

/** A message may be null, which the library doesn't know. */
function comparesObjectWithNull(node: CheckedNode): boolean {
  const types = operandsOf(node).map(typeName);
  return (
    ['==', '!=', '?:'].includes(node.op) &&
    types.includes('null') &&
    !types.every((type) => ['null', 'bool', 'int', 'uint', 'double', 'string', 'bytes'].includes(type))
  );
}

const argumentsOf = ({ args }: CheckedNode): unknown[] => (Array.isArray(args) ? args : [args]);
const isNode = (value: unknown): value is CheckedNode =>
  typeof value === 'object' && value !== null && 'op' in value;
const operandsOf = (node: CheckedNode): CheckedNode[] => argumentsOf(node).filter(isNode);
const childOf = (node: CheckedNode, i: number): CheckedNode | undefined => operandsOf(node)[i];

const typeName = (node: CheckedNode | undefined): string => shown(node?.checkedType?.name ?? 'dyn');

/** `list<int>` as `list(int)`. */
const shown = (type: string): string =>
  type
    .replaceAll('<', '(')
    .replaceAll('>', ')')
    .replaceAll('google.protobuf.Timestamp', 'timestamp')
    .replaceAll('google.protobuf.Duration', 'duration');

function functionName({ op }: CheckedNode): string {
  switch (op) {
    case '!_':
    case '-_':
      return op;
    case '?:':
      return '_?_:_';
    case 'in':
      return '@in';
    case '[]':
      return '_[_]';
    default:
      return `_${op}_`;
  }
}

/** Where cel-go points to: the dot of a selection, the operator between its operands. */
function placeOf(node: CheckedNode, expression: string): number {
  const start = node.pos;
  switch (node.op) {
    case '.':
    case '.?':
      return Math.max(0, expression.lastIndexOf('.', start));
    case 'call':
      return expression.indexOf('(', start);
    case 'rcall': {
      const [name, receiver] = node.args;
      const called = expression.indexOf(`${name}`, receiver.end ?? receiver.pos);
      return expression.indexOf('(', called < 0 ? start : called);
    }
    case '!_':
    case '-_':
    case 'id':
    case 'value':
      return start;
    default: {
      const right = childOf(node, 1);
      const sign = node.op === '?:' ? '?' : node.op === '[]' ? '[' : node.op;
      const at = right ? expression.lastIndexOf(sign, right.start ?? right.pos) : -1;
      return at < 0 ? start : at;
    }
  }
}
