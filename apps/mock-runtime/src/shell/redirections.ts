import { posix } from 'node:path';
import { openPath, type OpenMode } from '../files/open-path';
import { OpenFile } from '../kernel/open-file';
import { FileError } from '../files/file-error';
import type { Interpreter } from './interpreter';
import type { Redirection } from './syntax';

const modes: Readonly<Record<string, OpenMode>> = {
  '<': 'read',
  '>': 'write',
  '>|': 'write',
  '>>': 'append',
  '<>': 'readwrite',
  '&>': 'write',
  '&>>': 'append',
};

/** Applies redirections to a set of descriptors. False when one failed, after its message. */
export async function openRedirections(
  shell: Interpreter,
  redirections: readonly Redirection[],
  files: Map<number, OpenFile>,
): Promise<boolean> {
  const put = (fd: number, file: OpenFile) => {
    files.get(fd)?.release();
    files.set(fd, file);
  };
  for (const { operator, fd, target } of redirections) {
    if (target.type === 'HereDoc') {
      const text = await shell.expansion.text(target.content);
      put(fd ?? 0, textFile(target.stripTabs ? text.replace(/^\t+/gm, '') : text));
      continue;
    }
    const word = await shell.expansion.text(target);
    if (operator === '<<<') {
      put(fd ?? 0, textFile(`${word}\n`));
      continue;
    }
    if (operator === '>&' || operator === '<&') {
      const own = fd ?? (operator === '>&' ? 1 : 0);
      if (word === '-') {
        files.get(own)?.release();
        files.delete(own);
        continue;
      }
      if (/^\d+$/.test(word)) {
        const source = files.get(Number(word));
        if (!source) {
          await shell.complain(`${word}: Bad file descriptor`);
          return false;
        }
        put(own, source.retain());
        continue;
      }
    }
    try {
      const { process } = shell;
      const path = posix.resolve(process.cwd, word);
      // A process substitution in the target has just opened its descriptor in the shell.
      const descriptors = path.startsWith('/dev/fd/') ? new Map([...process.files, ...files]) : files;
      if (operator === '>' && isKept(shell, word)) {
        const what =
          shell.state.dialect === 'sh'
            ? `can't create ${word}: File exists`
            : `${word}: cannot overwrite existing file`;
        await shell.complain(what);
        return false;
      }
      const file = openPath(process, path, modes[operator] ?? 'write', descriptors);
      const both = operator === '&>' || operator === '&>>' || operator === '>&';
      put(fd ?? (operator === '<' || operator === '<>' ? 0 : 1), file);
      if (both) put(2, file.retain());
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      await shell.complain(openingFailed(shell, operator, word, error));
      return false;
    }
  }
  return true;
}

/** `set -C`: `>` overwrites no file, `>|` does. */
function isKept({ state, process }: Interpreter, word: string): boolean {
  if (!state.options.has('noclobber')) return false;
  const path = posix.resolve(process.cwd, word);
  return process.fs.exists(path) && process.fs.stat(path).kind === 'file';
}

function openingFailed({ state }: Interpreter, operator: string, word: string, error: FileError): string {
  if (state.dialect === 'bash') return `${word}: ${error.message}`;
  const reading = operator === '<';
  const missing = reading ? 'no such file' : 'nonexistent directory';
  return `can't ${reading ? 'open' : 'create'} ${word}: ${error.code === 'ENOENT' ? missing : error.message}`;
}

function textFile(text: string): OpenFile {
  let data: Buffer | undefined = Buffer.from(text);
  return new OpenFile({
    read: async () => {
      const next = data;
      data = undefined;
      return next && next.length > 0 ? next : undefined;
    },
  });
}
