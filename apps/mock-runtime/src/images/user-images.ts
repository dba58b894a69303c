import { createRequire } from 'node:module';
import { dirname, resolve } from 'node:path';
import { compileFunction } from 'node:vm';
import { UsageError } from '@tinkernetes/component-base';
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
export async function loadImages(file: string): Promise<readonly ImageDefinition[]> {
  const path = resolve(file);
  const exported = evaluate(await compile(path), path);
  const made: unknown = typeof exported === 'function' ? await exported({ defineImage }) : exported;
  if (!Array.isArray(made) || !made.every(isDefinition))
    throw new UsageError(
      `--images ${file}: its default export must be a list of images, or a function that gives one: export default ({ defineImage }) => [defineImage('acme/pay', …)]`,
    );
  return made;
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

function evaluate(code: string, path: string): ImagesModule | undefined {
  const module = { exports: {} as { default?: ImagesModule } };
  const load = createRequire(path);
  const require = (name: string): unknown => (name === ownName ? { defineImage } : load(name));
  const parameters = ['module', 'exports', 'require', '__filename', '__dirname'];
  const run = compileFunction(code, parameters, { filename: path }) as (...values: unknown[]) => void;
  run(module, module.exports, require, path, dirname(path));
  return module.exports.default;
}

function isDefinition(value: unknown): value is ImageDefinition {
  return typeof value === 'object' && value !== null && 'repository' in value && 'root' in value;
}
