import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildSync, type BuildOptions } from 'esbuild';

const root = join(__dirname, '../../../..');

/** Bundles a program as the apps are, so that a test can run it as a process of its own. */
export function bundleProgram(
  program: { file: string } | { source: string },
  extra: BuildOptions = {},
): { path: string; remove(): void } {
  // Beside node_modules, from which the bundle takes its native library.
  const folder = mkdtempSync(join(root, 'node_modules/.storage-test-'));
  const path = join(folder, 'program.cjs');
  const entry = 'file' in program ? program.file : join(folder, 'program.ts');
  if ('source' in program) writeFileSync(entry, program.source);
  buildSync({
    entryPoints: [entry],
    outfile: path,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    tsconfig: join(root, 'tsconfig.base.json'),
    keepNames: true,
    minifySyntax: true,
    minifyWhitespace: true,
    external: ['libsql'],
    ...extra,
  });
  return { path, remove: () => rmSync(folder, { recursive: true }) };
}
