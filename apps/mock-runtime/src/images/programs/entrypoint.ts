import { posix } from 'node:path';
import type { Process, Program } from '../../kernel/process';
import { ExecError, lookPath, spawn } from '../../kernel/spawn';

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

/** Whether an image's entrypoint takes what it is given as arguments of its own program. */
type Takes = (first: string, process: Process) => boolean;

const isOption: Takes = (first) => first.startsWith('-');
const isNoCommand: Takes = (first, process) => isOption(first, process) || !isCommand(first, process);

/** Puts the image's own program before what is no command by itself, as these images' scripts do. */
const withDefault =
  (program: string, takes: Takes): Program =>
  (process) => {
    const [, ...args] = process.argv;
    return spawn.become(process, takes(args[0] ?? '', process) ? [program, ...args] : args);
  };

export const curlEntrypoint = withDefault('curl', isNoCommand);
export const nodeEntrypoint = withDefault('node', isNoCommand);
export const postgresEntrypoint = withDefault('postgres', isOption);
const takesRedis: Takes = (first, process) => isOption(first, process) || first.endsWith('.conf');
export const redisEntrypoint = withDefault('redis-server', takesRedis);
export const valkeyEntrypoint = withDefault('valkey-server', takesRedis);

function isCommand(name: string, { fs, cwd, env }: Process): boolean {
  try {
    lookPath(name, { fs, cwd, path: env.PATH });
    return true;
  } catch (error) {
    if (error instanceof ExecError) return false;
    throw error;
  }
}
