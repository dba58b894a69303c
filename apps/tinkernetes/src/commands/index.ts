import type { Command } from './command';
import { down } from './down';
import { run } from './run';
import { status } from './status';
import { up } from './up';

/** All subcommands, in the order of the help text. */
export const commands: readonly Command[] = [up, down, status, run];
