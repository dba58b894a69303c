import type { ExecError } from '../kernel/spawn';
import type { ShellState } from './state';

/** How the two dialects word what goes wrong; `line` is where. */

export function complaint(state: ShellState, message: string): string {
  return `${state.name}: ${linePrefix(state)}${message}\n`;
}

/** Of a command that runs inside the shell. */
export function builtinComplaint(state: ShellState, builtin: string, message: string): string {
  if (state.dialect === 'bash') return complaint(state, `${builtin}: ${message}`);
  const line = state.interactive ? '' : `line ${state.source === 'command' ? state.line - 1 : state.line}: `;
  return `${state.name}: ${builtin}: ${line}${message}\n`;
}

const linePrefix = ({ dialect, interactive, line }: ShellState): string =>
  dialect === 'bash' && !interactive ? `line ${line}: ` : '';

export function execMessage({ dialect }: ShellState, command: string, error: ExecError): string {
  if (error.code === 'not executable') {
    const isDirectory = error.message.endsWith('is a directory');
    return `${command}: ${isDirectory && dialect === 'bash' ? 'Is a directory' : 'Permission denied'}`;
  }
  if (dialect === 'sh') return `${command}: not found`;
  return `${command}: ${command.includes('/') ? 'No such file or directory' : 'command not found'}`;
}

/** From the parser's words to the shell's; `text` is the script. */
export function syntaxComplaint(state: ShellState, parserMessage: string, text: string): string {
  const at = Number(/(?:at |line )(\d+)/.exec(parserMessage)?.[1] ?? state.line);
  const token = /near unexpected token [`']([^']*)'/.exec(parserMessage)?.[1];
  const isUnterminated = /while looking for matching/.test(parserMessage);
  const isEnd =
    /got EOF|unexpected end/i.test(parserMessage) || (token !== undefined && isPastEnd(text, token));
  if (state.dialect === 'sh') {
    const what = isUnterminated
      ? 'unterminated quoted string'
      : isEnd || token === undefined
        ? 'unexpected end of file'
        : `unexpected "${token}"`;
    const line = state.source === 'file' ? `line ${at}: ` : '';
    return `${state.name}: ${line}syntax error: ${what}\n`;
  }
  const where = `${state.name}: ${state.source === 'command' ? '-c: ' : ''}line ${at}: `;
  if (isUnterminated) return `${where}${parserMessage.replace(/^.*?(unexpected EOF)/, '$1')}\n`;
  if (isEnd || token === undefined) return `${where}syntax error: unexpected end of file\n`;
  return `${where}syntax error near unexpected token \`${token}'\n${where}\`${text.split('\n')[at - 1] ?? ''}'\n`;
}

/** The parser names the keyword that it misses where the text ends too early. */
function isPastEnd(text: string, token: string): boolean {
  return (
    /^(?:fi|done|esac|\}|then|do)$/.test(token) &&
    !new RegExp(`(?:^|[\\s;])${token.replace('}', '\\}')}`).test(text)
  );
}

/** bash and ash on a child that a signal ended. */
export const signalTexts: Readonly<Record<string, string>> = {
  SIGHUP: 'Hangup',
  SIGQUIT: 'Quit',
  SIGILL: 'Illegal instruction',
  SIGTRAP: 'Trace/breakpoint trap',
  SIGABRT: 'Aborted',
  SIGBUS: 'Bus error',
  SIGFPE: 'Floating point exception',
  SIGKILL: 'Killed',
  SIGUSR1: 'User defined signal 1',
  SIGSEGV: 'Segmentation fault',
  SIGUSR2: 'User defined signal 2',
  SIGALRM: 'Alarm clock',
  SIGTERM: 'Terminated',
};
