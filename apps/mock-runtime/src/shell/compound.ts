import type { StatementNode } from 'just-bash';
import { testConditional } from './conditional';
import type { Interpreter } from './interpreter';
import { patternRegExp } from './patterns';
import { LoopJump } from './state';
import type { CompoundCommand } from './syntax';

type Node<Type extends CompoundCommand['type']> = Extract<CompoundCommand, { type: Type }>;

/** `if`, loops, `case`, groups: everything that holds commands. */
export async function runCompound(shell: Interpreter, command: CompoundCommand): Promise<number> {
  switch (command.type) {
    case 'If':
      for (const { condition, body } of command.clauses)
        if ((await shell.condition(() => shell.statements(condition))) === 0) return shell.body(body);
      return command.elseBody ? shell.body(command.elseBody) : 0;
    case 'For':
      return runFor(shell, command);
    case 'CStyleFor':
      return runCStyleFor(shell, command);
    case 'While':
    case 'Until':
      return runWhile(shell, command);
    case 'Case':
      return runCase(shell, command);
    case 'Group':
      return shell.body(command.body);
    case 'Subshell': {
      const child = shell.subshell(shell.process.files);
      return child.process.run(() => child.finish(() => child.statements(command.body)));
    }
    case 'ArithmeticCommand':
      return (await shell.expansion.arithmetic(command.expression)) === 0n ? 1 : 0;
    case 'ConditionalCommand':
      return (await testConditional(shell, command.expression)) ? 0 : 1;
    case 'FunctionDef':
      return shell.command(command);
  }
}

async function runFor(shell: Interpreter, { variable, words, body }: Node<'For'>): Promise<number> {
  const values = words === null ? shell.state.positional : await shell.expansion.fields(words);
  let status = 0;
  for (const value of values) {
    shell.state.assign(variable, value);
    const outcome = await iteration(shell, body);
    status = outcome.status;
    if (outcome.leave) break;
  }
  return status;
}

async function runCStyleFor(shell: Interpreter, command: Node<'CStyleFor'>): Promise<number> {
  const { expansion } = shell;
  let status = 0;
  if (command.init) await expansion.arithmetic(command.init);
  while (!command.condition || (await expansion.arithmetic(command.condition)) !== 0n) {
    const outcome = await iteration(shell, command.body);
    status = outcome.status;
    if (outcome.leave) break;
    if (command.update) await expansion.arithmetic(command.update);
  }
  return status;
}

async function runWhile(shell: Interpreter, command: Node<'While' | 'Until'>): Promise<number> {
  let status = 0;
  const goesOn = (code: number) => (command.type === 'While') === (code === 0);
  while (goesOn(await shell.condition(() => shell.statements(command.condition)))) {
    const outcome = await iteration(shell, command.body);
    status = outcome.status;
    if (outcome.leave) break;
  }
  return status;
}

async function runCase(shell: Interpreter, command: Node<'Case'>): Promise<number> {
  const word = await shell.expansion.text(command.word);
  let fallThrough = false;
  let status = 0;
  for (const { patterns, body, terminator } of command.items) {
    let matches = fallThrough;
    for (const pattern of patterns)
      matches ||= patternRegExp(await shell.expansion.pattern(pattern)).test(word);
    if (!matches) continue;
    status = await shell.body(body);
    if (terminator === ';;') return status;
    fallThrough = terminator === ';&';
  }
  return status;
}

async function iteration(
  shell: Interpreter,
  body: readonly StatementNode[],
): Promise<{ status: number; leave: boolean }> {
  shell.state.loopDepth += 1;
  try {
    return { status: await shell.body(body), leave: false };
  } catch (error) {
    if (!(error instanceof LoopJump)) throw error;
    error.levels -= 1;
    if (error.levels > 0 && shell.state.loopDepth > 1) throw error;
    return { status: 0, leave: error.kind === 'break' };
  } finally {
    shell.state.loopDepth -= 1;
  }
}
