import { createRequire } from 'node:module';
import { dirname, resolve } from 'node:path';
import { compileFunction, createContext, Script } from 'node:vm';
import { aborted, TimeoutError, UsageError, withDeadline, type Clock } from '@tinkernetes/component-base';
import { defineImage } from './define-image';
import type { ImageDefinition } from './image';

/** What a file of images gets to make them with. */
export interface ImageTools {
  defineImage: typeof defineImage;
}

/** The default export of a file that `--images` names: the images, or a function that makes them. */
export type ImagesModule =
  | readonly ImageDefinition[]
  | ((tools: ImageTools) => readonly ImageDefinition[] | Promise<readonly ImageDefinition[]>);

const ownName = '@tinkernetes/mock-runtime';

/**
 * Loads a TypeScript or JavaScript file of images. It may import other files, packages that are installed beside it, and
 * `defineImage` from `@tinkernetes/mock-runtime`, which is this runtime's own, wherever the file lies.
 */
export async function loadImages(
  file: string,
  clock: Pick<Clock, 'setTimeout'>,
  limitMs = defaultLimitMs,
): Promise<readonly ImageDefinition[]> {
  const path = resolve(file);
  const code = await compile(path);
  let made: unknown;
  try {
    const exported = evaluate(code, path, limitMs);
    made =
      typeof exported === 'function' ? await inTime(exported({ defineImage }), clock, limitMs) : exported;
  } catch (error) {
    throw new UsageError(`--images ${file}: ${reasonOf(error, limitMs)}`, { cause: error });
  }
  if (!Array.isArray(made) || !made.every(isDefinition))
    throw new UsageError(
      `--images ${file}: its default export must be a list of images, or a function that gives one: export default ({ defineImage }) => [defineImage('acme/pay', …)]`,
    );
  return made;
}

/** A node whose images never come would never start, and nobody would know why. */
const defaultLimitMs = 30_000;

function inTime<T>(work: T | Promise<T>, clock: Pick<Clock, 'setTimeout'>, limitMs: number): Promise<T> {
  const rejected = async (late: AbortSignal): Promise<never> => {
    await aborted(late);
    throw late.reason;
  };
  return withDeadline(clock, limitMs, (late) => Promise.race([work, rejected(late)]));
}

function reasonOf(error: unknown, limitMs: number): string {
  const isLate =
    error instanceof TimeoutError ||
    (error as NodeJS.ErrnoException | undefined)?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
  if (isLate) return `it has not given its images after ${limitMs / 1000} s`;
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}

/** One CommonJS text, whatever the file is written in. */
async function compile(path: string): Promise<string> {
  const { build } = await import('esbuild').catch((error: unknown) => {
    throw new UsageError('--images needs the npm package esbuild beside this program', { cause: error });
  });
  try {
    const { outputFiles } = await build({
      entryPoints: [path],
      bundle: true,
      write: false,
      platform: 'node',
      format: 'cjs',
      target: 'node20',
      packages: 'external',
      sourcemap: 'inline',
      logLevel: 'silent',
    });
    return outputFiles[0]?.text ?? '';
  } catch (error) {
    throw new UsageError(`--images ${path}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}

/** Throws what the file throws, and when it goes on for too long. */
function evaluate(code: string, path: string, limitMs: number): ImagesModule | undefined {
  const module = { exports: {} as { default?: ImagesModule } };
  const load = createRequire(path);
  const require = (name: string): unknown => (name === ownName ? { defineImage } : load(name));
  const parameters = ['module', 'exports', 'require', '__filename', '__dirname'];
  const run = compileFunction(code, parameters, { filename: path }) as (...values: unknown[]) => void;
  // Only what a script runs can be ended; so a script calls the function.
  const context = createContext({ run: () => run(module, module.exports, require, path, dirname(path)) });
  new Script('run()').runInContext(context, { timeout: limitMs });
  return module.exports.default;
}

function isDefinition(value: unknown): value is ImageDefinition {
  return typeof value === 'object' && value !== null && 'repository' in value && 'root' in value;
}
