import type { ASTNode } from '@marcbachmann/cel-js';

/** Macros that run their last arguments once for each element. */
const comprehensions: ReadonlySet<string> = new Set([
  'all',
  'exists',
  'exists_one',
  'existsOne',
  'filter',
  'map',
  'transformList',
  'transformMap',
  'transformMapEntry',
]);

export const isComprehension = (name: string): boolean => comprehensions.has(name);

/** The parts of an expression's node, in order. */
export function childrenOf(node: ASTNode): readonly ASTNode[] {
  switch (node.op) {
    case 'value':
    case 'id':
      return [];
    case '.':
    case '.?':
      return [node.args[0]];
    case 'call':
      return node.args[1];
    case 'rcall':
      return [node.args[1], ...node.args[2]];
    case 'map':
      return node.args.flat();
    case '!_':
    case '-_':
      return [node.args];
    default:
      return node.args;
  }
}
