import { unaryTest, binaryTest } from '../commands/test';
import type { Interpreter } from './interpreter';
import { patternRegExp } from './patterns';
import type { ShellOption } from './state';
import type { ConditionalExpression } from './syntax';

/** `[[ … ]]`. */
export async function testConditional(
  shell: Interpreter,
  expression: ConditionalExpression,
): Promise<boolean> {
  const { expansion, process, state } = shell;
  switch (expression.type) {
    case 'CondNot':
      return !(await testConditional(shell, expression.operand));
    case 'CondAnd':
      return (await testConditional(shell, expression.left)) && testConditional(shell, expression.right);
    case 'CondOr':
      return (await testConditional(shell, expression.left)) || testConditional(shell, expression.right);
    case 'CondGroup':
      return testConditional(shell, expression.expression);
    case 'CondWord':
      return (await expansion.text(expression.word)) !== '';
    case 'CondUnary': {
      const operand = await expansion.text(expression.operand);
      if (expression.operator === '-v') return state.variables.has(operand);
      if (expression.operator === '-o') return state.options.has(operand as ShellOption);
      return unaryTest(process, expression.operator, operand);
    }
    case 'CondBinary': {
      const left = await expansion.text(expression.left);
      const { operator } = expression;
      if (operator === '=' || operator === '==' || operator === '!=') {
        const matches = patternRegExp(await expansion.pattern(expression.right)).test(left);
        return operator === '!=' ? !matches : matches;
      }
      const right = await expansion.text(expression.right);
      if (operator === '=~') {
        const match = new RegExp(right).exec(left);
        if (match)
          state.assign(
            'BASH_REMATCH',
            match.map((group) => group ?? ''),
          );
        return match !== null;
      }
      return binaryTest(process, left, operator, right);
    }
  }
}
