import { linkSignals, type Clock } from '@tinkernetes/component-base';
import type { FileSystem } from '../files/file-system';
import type { Process } from '../kernel/process';
import type { NetNamespace } from '../network/net-namespace';
import type { ImageConfig, ImageDefinition } from './image';
import { parseReference } from './reference';
import { rootTree } from './root-tree';
import { toolset } from './toolset';

/** What a program of a user-defined image gets. */
export interface ImageProgramContext {
  /** The container's command and arguments behind the entrypoint. */
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  fs: FileSystem;
  net: NetNamespace;
  /** Writes a line to the container's log. */
  log(line: string): Promise<void>;
  clock: Clock;
  /** Aborted when the container is being stopped. */
  signal: AbortSignal;
  process: Process;
}

export type ImageProgram = (context: ImageProgramContext) => Promise<number>;

export interface DefineOptions {
  config?: Omit<ImageConfig, 'entrypoint'>;
  /** Which tags exist; all when left out. */
  tags?: readonly string[];
  files?: Readonly<Record<string, string>>;
  /** A shell and busybox's commands beside the program, for `kubectl exec`; false for an image with nothing else. */
  hasShell?: boolean;
  credentials?: { username: string; password: string };
}

/**
 * An image whose entrypoint is a TypeScript function:
 * `defineImage('acme/pay', async ({ args, log, signal }) => { …; return 0; })`. SIGTERM and SIGINT abort `signal`; the
 * function's value is the exit code.
 */
export function defineImage(
  name: string,
  program: ImageProgram,
  options: DefineOptions = {},
): ImageDefinition {
  const reference = parseReference(name);
  if (!reference) throw new Error(`invalid image name "${name}"`);
  const run = async (process: Process): Promise<number> => {
    const stop = new AbortController();
    for (const signal of ['SIGTERM', 'SIGINT'] as const)
      process.onSignal(signal, () => stop.abort(new Error(`received ${signal}`)));
    return program({
      args: process.argv.slice(1),
      env: process.env,
      fs: process.fs,
      net: process.net,
      log: (line) => process.print(`${line}\n`),
      clock: process.clock,
      signal: linkSignals(stop.signal, process.signal).signal,
      process,
    });
  };
  return {
    repository: reference.repository,
    hasTag: (tag) => options.tags?.includes(tag) ?? true,
    size: 1_000_000,
    credentials: options.credentials,
    config: { ...options.config, entrypoint: ['/app'] },
    root: () =>
      rootTree({
        programs: { '/app': async () => run },
        commands: (options.hasShell ?? true) ? toolset('busybox') : undefined,
        files: options.files,
      }),
  };
}
