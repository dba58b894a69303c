import { spawn } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import type { PluginInput, PluginOutput } from './plugin';
import { CniError, cniErrorCode } from './types';

/** The executable of a plugin type in CNI_PATH. */
export async function findPlugin(type: string, path: string): Promise<string> {
  const dirs = path.split(delimiter).filter((dir) => dir !== '');
  for (const dir of dirs) {
    const file = join(dir, type);
    const found = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (found) return file;
  }
  throw new CniError(cniErrorCode.internal, `failed to find plugin "${type}" in path [${dirs.join(' ')}]`);
}

export function execPlugin(file: string, { stdin, env }: PluginInput): Promise<PluginOutput> {
  return new Promise((resolve, reject) => {
    const child = spawn(file, { env: { ...env }, stdio: ['pipe', 'pipe', 'pipe'] });
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
    child.once('error', reject);
    // A plugin that doesn't read its configuration closes the pipe early; its exit code tells the rest.
    child.stdin.once('error', () => undefined);
    child.once('close', (code) =>
      resolve({
        stdout: Buffer.concat(stdout).toString(),
        stderr: Buffer.concat(stderr).toString().trim(),
        exitCode: code ?? 1,
      }),
    );
    child.stdin.end(stdin);
  });
}
