import { Exit } from '../kernel/process';
import type { Interpreter } from './interpreter';
import { LoopJump, ReturnJump, ShellError } from './state';
import { parseScript, ShellSyntaxError } from './syntax';

/** Errors of a parser that has only seen the beginning of a command. */
const unfinished = /unexpected EOF|got EOF|unexpected end of (?:file|input)|unterminated/i;

/** A conversation on a terminal: prompt, line, command, until `exit` or Ctrl-D. */
export async function interact(shell: Interpreter): Promise<number> {
  const { process, state } = shell;
  state.interactive = true;
  // Ctrl-C ends what runs in the foreground and never the shell.
  let atPrompt = false;
  process.onSignal('SIGINT', () => {
    if (atPrompt) void process.stderr.write(prompt(shell));
  });
  process.onSignal('SIGQUIT', () => undefined);
  process.onSignal('SIGTERM', () => undefined);
  let pending = '';
  for (;;) {
    await process.complain(pending === '' ? prompt(shell) : '> ');
    atPrompt = true;
    const line = await process.stdin.readLine(process.signal);
    atPrompt = false;
    if (line === undefined) {
      await process.complain(state.dialect === 'bash' ? 'exit\n' : '\n');
      return shell.runExitTrap(state.status);
    }
    const text = pending + line.toString();
    if (await isUnfinished(text)) {
      pending = text;
      continue;
    }
    pending = '';
    try {
      await shell.runText(text);
    } catch (error) {
      if (error instanceof Exit) return shell.runExitTrap(error.code);
      if (error instanceof ShellError) {
        await shell.complain(error.message);
        state.status = error.exitCode(state);
      } else if (!(error instanceof LoopJump) && !(error instanceof ReturnJump)) throw error;
    }
  }
}

function prompt({ process, state }: Interpreter): string {
  const sign = process.user.uid === 0 ? '#' : '$';
  const home = state.get('HOME');
  const cwd = process.cwd === home ? '~' : process.cwd;
  const user = process.user.uid === 0 ? 'root' : `I have no name!`;
  return state.dialect === 'bash' ? `${user}@${process.machine.hostname}:${cwd}${sign} ` : `${cwd} ${sign} `;
}

/** A script that comes in by lines on stdin: each command runs as soon as it is complete, and reads on from there. */
export async function followScript(shell: Interpreter): Promise<void> {
  const { stdin, signal } = shell.process;
  let pending = '';
  for (;;) {
    const line = await stdin.readLine(signal);
    if (line === undefined) break;
    pending += line.toString();
    if (await isUnfinished(pending)) continue;
    const text = pending;
    pending = '';
    await shell.runText(text);
  }
  if (pending !== '') await shell.runText(pending);
}

async function isUnfinished(text: string): Promise<boolean> {
  if (/(?:^|[^\\])(?:\\\\)*\\\n$/.test(text) || waitsForHereDocument(text)) return true;
  try {
    await parseScript(text);
    return false;
  } catch (error) {
    if (!(error instanceof ShellSyntaxError)) throw error;
    return unfinished.test(error.message) || isAtEnd(error.message, text);
  }
}

/** The parser misses a word where the text ends, as after `if true; then`. */
function isAtEnd(message: string, text: string): boolean {
  const line = /Parse error at (\d+):/.exec(message)?.[1];
  return line !== undefined && Number(line) >= text.split('\n').length;
}

/** Whether a here-document's last line has yet to come. */
function waitsForHereDocument(text: string): boolean {
  const lines = text.split('\n').map((line) => line.replace(/^\t+/, ''));
  return [...text.matchAll(/(?<!<)<<-?\s*(?:\\|(['"]))?([A-Za-z_]\w*)\1?/g)].some(
    ([, , delimiter]) => delimiter !== undefined && !lines.includes(delimiter),
  );
}
