import type { SimpleCommandNode, WordNode } from 'just-bash';
import { ExecError, spawn } from '../kernel/spawn';
import { evaluate } from './arithmetic';
import { builtins } from './builtins';
import type { Interpreter } from './interpreter';
import { complaint, execMessage, signalTexts } from './messages';
import { ReturnJump, ShellError, type FunctionBody } from './state';
import { parseScript, type Assignment } from './syntax';
import { itemsOf, type Variable } from './variables';

const maxFunctionDepth = 200;

/** `x=1 name args >file`: a function, a builtin or a program. */
export async function runSimple(shell: Interpreter, node: SimpleCommandNode): Promise<number> {
  const { state, expansion } = shell;
  if (node.line !== undefined && node.line > 0 && shell.functionDepth === 0) state.line = node.line;
  const { name, args, assignments, redirections } = await withoutAlias(shell, node);
  shell.substitutionStatus = 0;
  const [commandName, ...rest] = await expansion.fields(name ? [name, ...args] : args);
  if (commandName === undefined) {
    const opened = await shell.redirected(redirections, async () => 0);
    for (const assignment of assignments) await assign(shell, assignment);
    return opened || shell.substitutionStatus;
  }
  const argv = [commandName, ...rest];
  if (state.options.has('xtrace')) await shell.process.complain(`+ ${argv.map(traced).join(' ')}\n`);
  const body = state.functions.get(commandName);
  const builtin = builtins[commandName];
  if (commandName === 'exec' && rest.length === 0) return shell.redirectForGood(redirections);
  if (!body && !builtin) return shell.redirected(redirections, () => runProgram(shell, argv, assignments));
  return shell.redirected(redirections, async () => {
    const restore = await temporarily(shell, assignments);
    try {
      if (body) return await callFunction(shell, body, argv);
      return builtin ? await builtin(shell, argv) : 0;
    } finally {
      restore();
    }
  });
}

const traced = (word: string): string =>
  /^[\w./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;

/** An alias is text: the command is parsed again with it. */
async function withoutAlias(shell: Interpreter, node: SimpleCommandNode): Promise<SimpleCommandNode> {
  const { state } = shell;
  const alias = state.aliases.get(literalOf(node.name) ?? '');
  if (alias === undefined || !node.name || (state.dialect === 'bash' && !state.interactive)) return node;
  const command = (await parseScript(alias)).statements[0]?.pipelines[0]?.commands[0];
  if (command?.type !== 'SimpleCommand') return node;
  return {
    ...node,
    name: command.name,
    args: [...command.args, ...node.args],
    assignments: [...node.assignments, ...command.assignments],
    redirections: [...command.redirections, ...node.redirections],
  };
}

function literalOf(word: WordNode | null): string | undefined {
  const [part, ...more] = word?.parts ?? [];
  return part?.type === 'Literal' && more.length === 0 ? part.value : undefined;
}

async function runProgram(
  shell: Interpreter,
  argv: readonly string[],
  assignments: readonly Assignment[],
): Promise<number> {
  const extra: Record<string, string> = {};
  for (const { name, value } of assignments) extra[name] = value ? await shell.expansion.text(value) : '';
  try {
    const child = await spawn.start(shell.process, argv, { env: shell.state.environment(extra) });
    const code = await child.exited;
    const what = child.endedBy && signalTexts[child.endedBy];
    if (what)
      await shell.process.complain(
        endedText(shell, `${child.pid} ${what.padEnd(23)} ${shell.state.text}`, what),
      );
    return code;
  } catch (error) {
    if (!(error instanceof ExecError)) throw error;
    await shell.complain(execMessage(shell.state, argv[0] ?? '', error));
    return error.exitCode;
  }
}

function endedText({ state }: Interpreter, bashText: string, ashText: string): string {
  return state.dialect === 'bash' && !state.interactive ? complaint(state, bashText) : `${ashText}\n`;
}

async function callFunction(
  shell: Interpreter,
  body: FunctionBody,
  argv: readonly string[],
): Promise<number> {
  const { state } = shell;
  if (shell.functionDepth >= maxFunctionDepth)
    throw new ShellError('maximum function nesting level exceeded');
  const { positional } = state;
  const saved = new Map<string, Variable | undefined>();
  state.positional = argv.slice(1);
  state.locals.push(saved);
  state.calls.unshift(argv[0] ?? '');
  shell.functionDepth += 1;
  try {
    return await shell.command(body);
  } catch (error) {
    if (error instanceof ReturnJump) return error.code;
    throw error;
  } finally {
    shell.functionDepth -= 1;
    state.calls.shift();
    state.locals.pop();
    state.positional = positional;
    restoreAll(shell, saved);
  }
}

async function assign(shell: Interpreter, assignment: Assignment): Promise<void> {
  const { state, expansion } = shell;
  const { name, append } = assignment;
  if (assignment.array) return assignArray(shell, name, assignment.array, append);
  let text = assignment.value ? await expansion.text(assignment.value) : '';
  const element = /^(\w+)\[([\s\S]+)\]$/.exec(name);
  const variable = element?.[1] ?? name;
  if (state.variables.get(variable)?.integer) {
    const scope = expansion.scope(text);
    text = String(await evaluate(await scope.parse(text), scope));
  }
  if (state.options.has('xtrace'))
    await shell.process.complain(`+ ${name}${append ? '+=' : '='}${traced(text)}\n`);
  if (element) {
    const key = await expansion.parameters.keyOf(variable, element[2] ?? '0');
    return state.assignElement(variable, key, append ? (state.element(variable, key) ?? '') + text : text);
  }
  state.assign(name, append ? (state.get(name) ?? '') + text : text);
}

/** `a=(x y)`, `a+=(z)`, `m=([k]=v)`. */
async function assignArray(
  { state, expansion }: Interpreter,
  name: string,
  words: readonly WordNode[],
  append: boolean,
): Promise<void> {
  const before = state.variables.get(name)?.value;
  const items = await expansion.fields(words);
  if (before instanceof Map) {
    const entries = items.map((item) => /^\[([\s\S]*?)\]=([\s\S]*)$/.exec(item));
    const pairs = entries.map((match): [string, string] => [match?.[1] ?? '', match?.[2] ?? '']);
    return state.assign(name, new Map([...(append ? before : []), ...pairs]));
  }
  state.assign(name, [...(append ? itemsOf(before) : []), ...items]);
}

/** Assignments before a function or builtin last as long as it. */
async function temporarily(shell: Interpreter, assignments: readonly Assignment[]): Promise<() => void> {
  const saved = new Map(assignments.map(({ name }) => [name, shell.state.variables.get(name)]));
  for (const assignment of assignments) await assign(shell, assignment);
  return () => restoreAll(shell, saved);
}

function restoreAll({ state }: Interpreter, saved: ReadonlyMap<string, Variable | undefined>): void {
  for (const [key, variable] of saved) {
    if (variable) state.variables.set(key, variable);
    else state.variables.delete(key);
  }
}
