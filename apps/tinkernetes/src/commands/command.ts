import type { FlagSpec } from '@tinkernetes/component-base';

/** One subcommand of `tinkernetes`. */
export interface Command {
  readonly name: string;
  readonly summary: string;
  readonly flags: Record<string, FlagSpec>;
  /** Positional arguments for the usage line, e.g. `COMPONENT`. */
  readonly args?: string;
  /** Throws UsageError for what the user has to change. */
  run(argv: readonly string[]): Promise<void>;
}
