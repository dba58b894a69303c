import { exitCodeOf, parseSignal } from '../../kernel/signals';
import type { Process } from '../../kernel/process';
import type { Interpreter } from '../interpreter';
import { signalTexts } from '../messages';
import type { Builtin } from './builtin';

export const trap: Builtin = async (shell, argv) => {
  const { state, process } = shell;
  const args = argv.slice(1).filter((arg) => arg !== '--');
  if (args.length === 0 || args[0] === '-p') {
    for (const [signal, command] of state.traps) await process.print(`trap -- '${command}' ${signal}\n`);
    return 0;
  }
  const [command = '', ...conditions] = args.length === 1 ? ['-', ...args] : args;
  for (const condition of conditions) {
    const pseudo = pseudoSignal(condition, state.dialect);
    if (pseudo) {
      if (command === '-') state.traps.delete(pseudo);
      else state.traps.set(pseudo, command);
      continue;
    }
    const signal = parseSignal(condition);
    if (!signal) {
      await shell.complainAs('trap', `${condition}: invalid signal specification`);
      return 1;
    }
    if (command === '-') {
      state.traps.delete(signal);
      process.resetSignal(signal);
    } else {
      state.traps.set(signal, command);
      if (command === '') process.onSignal(signal, () => undefined);
      else shell.catchSignal(signal);
    }
  }
  return 0;
};

function pseudoSignal(condition: string, dialect: 'sh' | 'bash'): string | undefined {
  if (condition === 'EXIT' || condition === '0') return 'EXIT';
  return dialect === 'bash' && (condition === 'ERR' || condition === 'DEBUG' || condition === 'RETURN')
    ? condition
    : undefined;
}

export function jobOf({ jobs }: Interpreter, spec: string): Process | undefined {
  if (!spec.startsWith('%')) return jobs.get(Number(spec));
  const rest = spec.slice(1);
  return [...jobs.values()].at(/^\d+$/.test(rest) ? Number(rest) - 1 : -1);
}

/** Waits for jobs; a trapped signal ends it early with 128 + its number. */
export const wait: Builtin = async (shell, argv) => {
  const specs = argv.slice(1).filter((arg) => !arg.startsWith('-'));
  const targets = specs.length > 0 ? specs : [...shell.jobs.keys()].map(String);
  let status = 0;
  for (const spec of targets) {
    const job = jobOf(shell, spec);
    if (!job) {
      status = await noSuchJob(shell, spec);
      continue;
    }
    const ended = await Promise.race([job.exited, shell.untilTrap()]);
    if (ended === undefined) {
      await shell.runTraps();
      return exitCodeOf('SIGTERM');
    }
    shell.jobs.delete(job.pid);
    const what = job.endedBy && signalTexts[job.endedBy];
    if (what && shell.state.dialect === 'sh') await shell.process.complain(`${what}\n`);
    status = specs.length > 0 ? ended : 0;
  }
  return status;
};

async function noSuchJob(shell: Interpreter, spec: string): Promise<number> {
  const isBash = shell.state.dialect === 'bash';
  if (spec.startsWith('%')) {
    await shell.complainAs('wait', `${spec}: no such job`);
    return isBash ? 127 : 2;
  }
  if (isBash) await shell.complainAs('wait', `pid ${spec} is not a child of this shell`);
  return 127;
}

export const listJobs: Builtin = async ({ jobs, process }) => {
  let index = 0;
  for (const job of jobs.values())
    await process.print(
      `[${++index}]+  ${job.exitCode === undefined ? 'Running' : 'Done'}\t${job.argv.join(' ')}\n`,
    );
  return 0;
};

/** `fg`, in a shell on a terminal: waits for the last job. */
export const foreground: Builtin = async (shell, [, spec = '%%']) => {
  const job = jobOf(shell, spec);
  if (!job) return noSuchJob(shell, spec);
  shell.jobs.delete(job.pid);
  return job.exited;
};
