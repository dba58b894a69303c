import { posix } from 'node:path';
import type { Process } from '../../kernel/process';
import { spawn } from '../../kernel/spawn';

/** `docker-entrypoint.sh`: says what it does and becomes the command it was given. */
export async function entrypoint(process: Process): Promise<number> {
  const [, ...command] = process.argv;
  if (command[0] === 'nginx') {
    await fillTemplates(process);
    await process.print('/docker-entrypoint.sh: Configuration complete; ready for start up\n');
  }
  return spawn.become(process, command);
}

const templates = '/etc/nginx/templates';
const suffix = '.template';

/** The image's 20-envsubst-on-templates.sh: only variables that are set are replaced, so that nginx's own stay. */
async function fillTemplates(process: Process): Promise<void> {
  const { fs, env } = process;
  if (!fs.isDirectory(templates)) return;
  for (const name of fs.readdir(templates)) {
    if (!name.endsWith(suffix)) continue;
    const text = fs.readFile(posix.join(templates, name)).toString();
    const filled = text.replace(
      /\$(?:\{(\w+)\}|(\w+))/g,
      (whole, braced?: string, bare?: string) => env[braced ?? bare ?? ''] ?? whole,
    );
    const target = posix.join('/etc/nginx/conf.d', name.slice(0, -suffix.length));
    await process.print(
      `20-envsubst-on-templates.sh: Running envsubst on ${posix.join(templates, name)} to ${target}\n`,
    );
    fs.writeFile(target, Buffer.from(filled));
  }
}

/** curlimages/curl: arguments that are no command are curl's own. */
export async function curlEntrypoint(process: Process): Promise<number> {
  const [, ...args] = process.argv;
  return spawn.become(process, args[0] === 'curl' || args[0] === 'sh' ? args : ['curl', ...args]);
}
