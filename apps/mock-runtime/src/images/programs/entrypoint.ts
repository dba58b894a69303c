import type { Process } from '../../kernel/process';
import { spawn } from '../../kernel/spawn';

/** `docker-entrypoint.sh`: says what it does and becomes the command it was given. */
export async function entrypoint(process: Process): Promise<number> {
  const [, ...command] = process.argv;
  if (command[0] === 'nginx')
    await process.print('/docker-entrypoint.sh: Configuration complete; ready for start up\n');
  return spawn.become(process, command);
}
