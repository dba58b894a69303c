import type { ASTNode, Environment } from '@marcbachmann/cel-js';
import { LruMap } from '@tinkernetes/component-base';
import { RE2JS } from 're2js';
import { childrenOf } from '../ast';

/** A name that expressions are not expected to use themselves. */
const ownMatches = 'matchesPattern';

const patterns = new LruMap<string, RE2JS>(500);
const compiled = (pattern: string): RE2JS => patterns.getOrCreate(pattern, () => RE2JS.compile(pattern));

/** Kubernetes' regular expressions are RE2's: linear time, no look-around, no references back. */
export function registerRegularExpressions(env: Environment): void {
  const matches = (text: string, pattern: string): boolean => compiled(pattern).matcher(text).find();
  env.registerFunction(`string.${ownMatches}(string): bool`, matches);
  env.registerFunction('matches(string, string): bool', matches);
  env.registerFunction(
    'string.find(string): string',
    (text: string, pattern: string) => findAll(text, pattern, 1)[0] ?? '',
  );
  env.registerFunction('string.findAll(string): list<string>', (text: string, pattern: string) =>
    findAll(text, pattern, Infinity),
  );
  env.registerFunction(
    'string.findAll(string, int): list<string>',
    (text: string, pattern: string, limit: bigint) =>
      findAll(text, pattern, limit < 0n ? Infinity : Number(limit)),
  );
}

/**
 * The library's own `matches` has JavaScript's regular expressions and can't be replaced: has a parsed expression call
 * ours. Throws an Error for a literal that is no pattern, as cel-go does when it makes the program.
 */
export function useRe2(node: ASTNode): void {
  if (node.op === 'rcall' && node.args[0] === 'matches' && node.args[2].length === 1) {
    node.args[0] = ownMatches;
    const [pattern] = node.args[2];
    if (pattern?.op === 'value' && typeof pattern.args === 'string') compiled(pattern.args);
  }
  childrenOf(node).forEach(useRe2);
}

function findAll(text: string, pattern: string, limit: number): string[] {
  const matcher = compiled(pattern).matcher(text);
  const out: string[] = [];
  while (out.length < limit && matcher.find()) out.push(matcher.group() ?? '');
  return out;
}
