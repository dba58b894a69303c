import { RE2JS, RE2JSSyntaxException } from 're2js';
import type { Call, Expression } from './expression';
import type { Finding } from './parser';

/** Texts in an expression that can't be what they are used for. Source: cel-go cel/validator.go. */
export function literalFindings(expression: Expression): Finding[] {
  const own = expression.kind === 'call' ? ownFindings(expression) : [];
  return [...own, ...partsOf(expression).flatMap(literalFindings)];
}

/** Why the program of an expression can't be made; undefined: it can. */
export function patternProblem(expression: Expression): string | undefined {
  if (expression.kind === 'call' && expression.name === 'matches' && !expression.target) {
    const [, pattern] = expression.args;
    const problem = pattern?.kind === 'literal' ? regexProblem(pattern.text) : undefined;
    if (problem !== undefined) return problem;
  }
  for (const part of partsOf(expression)) {
    const problem = patternProblem(part);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function ownFindings({ name, target, args }: Call): Finding[] {
  const [first] = args;
  if (first?.kind !== 'literal' || first.type.name !== 'string') return [];
  const check = target ? memberChecks[name] : globalChecks[name];
  return check === undefined || check(first.text)
    ? []
    : [{ message: `invalid ${name} argument`, position: first.position }];
}

type Fits = (text: string) => boolean;
const memberChecks: Readonly<Record<string, Fits>> = {
  matches: (text) => regexProblem(text) === undefined,
};
const globalChecks: Readonly<Record<string, Fits>> = {
  duration: (text) => /^[-+]?(0|((\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h))+)$/.test(text),
  timestamp: (text) =>
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(text) && !Number.isNaN(Date.parse(text)),
};

function regexProblem(pattern: string): string | undefined {
  try {
    RE2JS.compile(pattern);
    return undefined;
  } catch (error) {
    if (error instanceof RE2JSSyntaxException) return error.message;
    throw error;
  }
}

function partsOf(node: Expression): readonly Expression[] {
  switch (node.kind) {
    case 'select':
      return [node.operand];
    case 'call':
      return [...(node.target ? [node.target] : []), ...node.args];
    case 'list':
      return node.elements;
    case 'map':
      return node.entries.flatMap(({ key, value }) => [key, value]);
    case 'struct':
      return node.fields.map(({ value }) => value);
    case 'comprehension':
      return [node.range, node.init, node.condition, node.step, node.end];
    default:
      return [];
  }
}
