import pino from 'pino';

/**
 * Structured logger. One line a decision at `info`; objects are named `kind/namespace/name`. `debug` shows what a
 * reader who follows one step wants to see.
 */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  /** A logger that adds `fields` to each line. */
  child(fields: object): Logger;
}

export interface LoggerOptions {
  component: string;
  /** klog's `-v`: 0–2 → info, 3 → debug, 4 and more → trace. */
  verbosity?: number;
  /** Instead of `verbosity`. */
  level?: 'debug' | 'info' | 'warn' | 'error';
  destination?: NodeJS.WritableStream;
}

export function createLogger({
  component,
  verbosity = 0,
  level = verbosity >= 3 ? 'debug' : 'info',
  destination,
}: LoggerOptions): Logger {
  const options = { level, base: { component }, timestamp: pino.stdTimeFunctions.isoTime };
  return destination ? pino(options, destination) : pino(options, pino.destination({ fd: 2, sync: false }));
}
