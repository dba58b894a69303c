import type { Command } from './command';
import { container } from './container';
import { down } from './down';
import { explain } from './explain';
import { healthz } from './healthz';
import { init } from './init';
import { run } from './run';
import { snapshot } from './snapshot';
import { status } from './status';
import { trace } from './trace';
import { up } from './up';

/** All subcommands, in the order of the help text. */
export const commands: readonly Command[] = [
  up,
  down,
  status,
  run,
  trace,
  explain,
  snapshot,
  init,
  container,
  healthz,
];
