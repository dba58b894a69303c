import type { Clock, Logger } from '@tinkernetes/component-base';
import { nullFile, OpenFile } from '../kernel/open-file';
import { Pipe } from '../kernel/pipe';
import type { ProcessTable } from '../kernel/process-table';
import { Tty } from '../kernel/tty';
import { CriLog } from './cri-log';
import { Output } from './output';
import type { ContainerRecord } from './records';

export interface StreamsOptions {
  clock: Clock;
  logger: Logger;
  /** Whose processes the terminal's keys signal. */
  table: ProcessTable;
}

/** A container's input and output for as long as it runs: its log, who is attached, a pipe or a terminal. */
export class ContainerStreams {
  readonly log: CriLog | undefined;
  readonly output: Output;
  readonly terminal: Tty | undefined;
  private input: Pipe | undefined;

  constructor({ config, logPath }: ContainerRecord, { clock, logger, table }: StreamsOptions) {
    this.log = logPath === '' ? undefined : new CriLog(logPath, clock, logger);
    this.output = new Output(this.log, { interactive: config.stdin });
    if (config.tty) {
      const shown = this.output.writer('stdout');
      this.terminal = new Tty({ output: (data) => shown.write?.(data), table });
    } else if (config.stdin) this.input = new Pipe();
  }

  /** What an attached client writes to; undefined when the container takes no input (any more). */
  get stdin(): Pipe | undefined {
    return this.input;
  }

  /** The first process's descriptors. */
  files(): Map<number, OpenFile> {
    if (this.terminal) {
      const file = new OpenFile(this.terminal.io);
      return new Map([
        [0, file],
        [1, file.retain()],
        [2, file.retain()],
      ]);
    }
    return new Map([
      [0, this.input?.readEnd ?? new OpenFile(nullFile)],
      [1, new OpenFile(this.output.writer('stdout'))],
      [2, new OpenFile(this.output.writer('stderr'))],
    ]);
  }

  endInput(): void {
    this.terminal?.hangUp();
    this.input?.writeEnd.release();
    this.input = undefined;
  }
}
