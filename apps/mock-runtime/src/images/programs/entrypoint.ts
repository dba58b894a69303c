import type { Process } from '../../kernel/process';
import { spawn } from '../../kernel/spawn';

/** `docker-entrypoint.sh`: says what it does and becomes the command it was given. */
export async function entrypoint(process: Process): Promise<number> {
  const [, ...command] = process.argv;
  if (command[0] === 'nginx')
    await process.print('/docker-entrypoint.sh: Configuration complete; ready for start up\n');
  return spawn.become(process, command);
}

/** curlimages/curl: arguments that are no command are curl's own. */
export async function curlEntrypoint(process: Process): Promise<number> {
  const [, ...args] = process.argv;
  return spawn.become(process, args[0] === 'curl' || args[0] === 'sh' ? args : ['curl', ...args]);
}
