import type { CommandNode, ScriptNode, SimpleCommandNode, WordNode } from 'just-bash';

/** Names for the parts of just-bash's syntax tree that it doesn't export by themselves. */
export type WordPart = WordNode['parts'][number];
export type Redirection = SimpleCommandNode['redirections'][number];
export type Assignment = SimpleCommandNode['assignments'][number];
export type Parameter = Extract<WordPart, { type: 'ParameterExpansion' }>;
export type ParameterOperation = NonNullable<Parameter['operation']>;
export type ArithmeticNode = Extract<WordPart, { type: 'ArithmeticExpansion' }>['expression'];
export type ArithExpr = ArithmeticNode['expression'];
export type CompoundCommand = Exclude<CommandNode, SimpleCommandNode>;
export type ConditionalExpression = Extract<CommandNode, { type: 'ConditionalCommand' }>['expression'];

export class ShellSyntaxError extends Error {
  override readonly name = 'ShellSyntaxError';
}

let parser: Promise<(text: string) => ScriptNode> | undefined;

/** Parses a script; the parser (a big package) is loaded with the first one. */
export async function parseScript(text: string): Promise<ScriptNode> {
  parser ??= import('just-bash').then((module) => module.parse);
  const parse = await parser;
  try {
    return parse(text);
  } catch (error) {
    throw new ShellSyntaxError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}
