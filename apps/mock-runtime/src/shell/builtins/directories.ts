import { posix } from 'node:path';
import { parseArgs } from '../../commands/paths';
import type { Builtin } from './builtin';

export const changeDirectory: Builtin = async (shell, argv) => {
  const { process, state } = shell;
  const { rest } = parseArgs(argv.slice(1).map((arg) => (arg === '-' ? './-' : arg)));
  const wanted = rest[0] === './-' ? '-' : rest[0];
  const target =
    wanted === undefined
      ? (state.get('HOME') ?? '/')
      : wanted === '-'
        ? (state.get('OLDPWD') ?? process.cwd)
        : wanted;
  const path = posix.resolve(process.cwd, target);
  const missing = !process.fs.exists(path);
  if (missing || !process.fs.isDirectory(path)) {
    const why = missing ? 'No such file or directory' : 'Not a directory';
    const isBash = state.dialect === 'bash';
    await shell.complainAs('cd', isBash ? `${target}: ${why}` : `can't cd to ${target}: ${why}`);
    return isBash ? 1 : 2;
  }
  state.assign('OLDPWD', process.cwd);
  process.cwd = path;
  state.assign('PWD', path);
  if (wanted === '-') await process.print(`${path}\n`);
  return 0;
};

export const printDirectory: Builtin = async ({ process }) => {
  await process.print(`${process.cwd}\n`);
  return 0;
};

export const umask: Builtin = async ({ process }, [, mask]) => {
  if (mask === undefined) await process.print(`${process.umask.toString(8).padStart(4, '0')}\n`);
  else if (/^[0-7]+$/.test(mask)) process.umask = parseInt(mask, 8) & 0o777;
  return 0;
};
