import type { ASTNode, Environment } from '@marcbachmann/cel-js';

/** The parts of the library that a macro gets, as far as they are used here. */
interface Checker {
  check(node: ASTNode, context: unknown): unknown;
  getType(name: string): unknown;
  createError(code: string, message: string, node: ASTNode): Error;
}
interface Evaluator {
  run(node: ASTNode, context: unknown): unknown;
  debugType(value: unknown): { fieldLazy(value: unknown, name: unknown, ...at: unknown[]): unknown };
}

/** A name that expressions are not expected to use themselves. */
const macro = 'hasMember';
const stringsAndHas =
  /[rR]?("""[\s\S]*?"""|'''[\s\S]*?''')|[rR]("[^"\n]*"|'[^'\n]*')|"(\\.|[^"\\\n])*"|'(\\.|[^'\\\n])*'|(?<![\w.])has(?=\s*\()/g;

/** The library's own `has` takes only names joined by dots; Kubernetes' expressions ask `has(a["b"].c)`, too. */
export const widenHas = (expression: string): string =>
  expression.replace(stringsAndHas, (token) => (token === 'has' ? macro : token));

export function registerHas(env: Environment): void {
  const expand = ({ args }: { args: ASTNode[] }) => {
    const [given] = args as [ASTNode];
    const [object, member] = given.args as [ASTNode, unknown];
    return {
      args,
      async: false,
      typeCheck(checker: Checker, _call: unknown, context: unknown) {
        if (given.op !== '.')
          throw checker.createError('invalid_macro_argument', 'has() invalid argument', given);
        checker.check(given, context);
        return checker.getType('bool');
      },
      evaluate(evaluator: Evaluator, _call: unknown, context: unknown) {
        const value = evaluator.run(object, context);
        return evaluator.debugType(value).fieldLazy(value, member, given, evaluator) !== undefined;
      },
    };
  };
  env.registerFunction(`${macro}(ast): bool`, expand);
}
