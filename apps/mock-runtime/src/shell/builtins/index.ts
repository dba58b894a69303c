import { echo } from '../../commands/echo';
import { kill } from '../../commands/kill';
import { formatPrintf, printf } from '../../commands/printf';
import { runTest } from '../../commands/test';
import type { Builtin } from './builtin';
import { evaluateText, execute, exit, jump, leaveFunction, letExpressions, source } from './control';
import { changeDirectory, printDirectory, umask } from './directories';
import { foreground, jobOf, listJobs, trap, wait } from './jobs';
import { alias, describe, runCommand, unalias } from './lookup';
import { ulimit } from './limits';
import { set, shopt } from './options';
import { mapfile, read } from './read';
import { declare, exportVariables, getopts, readonly, shift, unset } from './variables';

const print =
  (text: string): Builtin =>
  async ({ process }) => {
    await process.print(text);
    return 0;
  };

const describing: Builtin = describe((name) => builtins[name] !== undefined);

/** Commands that run inside the shell; `__proto__` and its like are none. */
export const builtins: Readonly<Record<string, Builtin>> = Object.assign(
  Object.create(null) as Record<string, Builtin>,
  {
    ':': () => 0,
    true: () => 0,
    false: () => 1,
    '.': source,
    source,
    '[': (shell, argv) => runTest(shell.process, argv),
    test: (shell, argv) => runTest(shell.process, argv),
    alias,
    unalias,
    break: jump('break'),
    continue: jump('continue'),
    cd: changeDirectory,
    command: (shell, argv) => runCommand(builtins, describing)(shell, argv),
    builtin: (shell, argv) => builtins[argv[1] ?? '']?.(shell, argv.slice(1)) ?? 1,
    declare,
    typeset: declare,
    local: declare,
    echo: (shell, argv) => echo(shell.process, argv),
    eval: evaluateText,
    exec: execute,
    exit,
    export: exportVariables,
    fg: foreground,
    getopts,
    hash: () => 0,
    jobs: listJobs,
    kill: (shell, argv) => kill(shell.process, argv, (spec) => jobOf(shell, `%${spec}`)?.pid),
    let: letExpressions,
    mapfile,
    readarray: mapfile,
    printf: async (shell, argv) => {
      if (argv[1] !== '-v' || !argv[2]) return printf(shell.process, argv);
      shell.state.assign(argv[2], formatPrintf(argv.slice(3)).text);
      return 0;
    },
    pwd: printDirectory,
    read,
    readonly,
    return: leaveFunction,
    set,
    shift,
    shopt,
    times: print('0m0.00s 0m0.00s\n0m0.00s 0m0.00s\n'),
    trap,
    type: describing,
    ulimit,
    umask,
    unset,
    wait,
  } satisfies Record<string, Builtin>,
);
