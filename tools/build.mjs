// Bundles each app into one CommonJS file under dist/apps, only when one of its inputs has changed.
//   node tools/build.mjs [APP…] [--force]
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeDescriptions } from './generate/descriptions.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const outDir = join(root, 'dist/apps');

/** Loaded from node_modules at run time: native code, or too big to be parsed when it is not used. */
const external = [
  'libsql',
  'just-bash',
  'esbuild',
  'bullmq',
  '@bull-board/*',
  'msgpackr-extract',
  'bufferutil',
  'utf-8-validate',
];

export const appNames = () =>
  readdirSync(join(root, 'apps')).filter((app) => existsSync(join(root, 'apps', app, 'src/main.ts')));

/** Stands in for `prom-client`'s index, whose other parts would be loaded in each process. */
const leanMetrics = {
  name: 'lean-metrics',
  setup: (build) =>
    build.onResolve({ filter: /^prom-client$/ }, () => ({ path: join(root, 'tools/prom-client.cjs') })),
};

/** What an app needs beside its bundle. */
const extras = {
  apiserver: { 'openapi-descriptions.json': writeDescriptions },
};

/** Inputs that every bundle depends on. */
const sharedInputs = [
  'tools/build.mjs',
  'tools/prom-client.cjs',
  'tools/generate/descriptions.mjs',
  'tsconfig.base.json',
  'package-lock.json',
];

const stampOf = (file) => {
  const path = join(root, file);
  if (!existsSync(path)) return 'missing';
  const { mtimeMs, size } = statSync(path);
  return `${mtimeMs}:${size}`;
};

function isCurrent(app, stamps) {
  const manifest = join(outDir, `${app}.inputs.json`);
  if (!existsSync(manifest) || !existsSync(join(outDir, `${app}.cjs`))) return false;
  if (Object.keys(extras[app] ?? {}).some((file) => !existsSync(join(outDir, file)))) return false;
  const inputs = JSON.parse(readFileSync(manifest, 'utf8'));
  return Object.entries(inputs).every(([file, stamp]) => {
    if (!stamps.has(file)) stamps.set(file, stampOf(file));
    return stamps.get(file) === stamp;
  });
}

/**
 * A process keeps its source, and V8 two bytes of each character where one of them is beyond Latin-1. esbuild escapes
 * what is beyond ASCII but in regular expressions, where an escape means the same; then run.cjs need not decode it.
 */
function keepAscii(file) {
  const source = readFileSync(file, 'utf8');
  const escaped = source.replace(
    /[^\0-\x7f]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  if (escaped !== source) writeFileSync(file, escaped);
}

async function bundle(esbuild, app) {
  const { metafile } = await esbuild.build({
    absWorkingDir: root,
    entryPoints: [join(root, 'apps', app, 'src/main.ts')],
    outfile: join(outDir, `${app}.cjs`),
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    tsconfig: join(root, 'tsconfig.base.json'),
    sourcemap: 'linked',
    sourcesContent: false,
    minifySyntax: true,
    minifyWhitespace: true,
    // Names kept exactly would cost a call for each function that is made, in every request.
    keepNames: false,
    legalComments: 'none',
    external,
    plugins: [leanMetrics],
    // A function restored from V8's code cache has lost its way to load modules dynamically on Node 20; require works.
    supported: { 'dynamic-import': false },
    // ESM-only packages look at import.meta.url; in a CommonJS bundle the file itself stands in.
    define: { 'import.meta.url': '__bundleUrl' },
    banner: { js: 'const __bundleUrl=require("node:url").pathToFileURL(__filename).href;' },
    metafile: true,
    logLevel: 'error',
  });
  keepAscii(join(outDir, `${app}.cjs`));
  for (const [file, write] of Object.entries(extras[app] ?? {})) write(join(outDir, file));
  const inputs = [
    ...Object.keys(metafile.inputs).filter((f) => !f.includes('node_modules/')),
    ...sharedInputs,
  ];
  const stamps = Object.fromEntries(inputs.map((f) => [relative(root, join(root, f)), stampOf(f)]));
  writeFileSync(join(outDir, `${app}.inputs.json`), JSON.stringify(stamps));
  for (const file of readdirSync(outDir)) {
    if (file.startsWith(`${app}.`) && file.endsWith('.v8cache')) rmSync(join(outDir, file), { force: true });
  }
}

/** Builds what changed. Returns the names of the apps that were bundled. */
export async function build({ apps = appNames(), force = false, onStart } = {}) {
  mkdirSync(outDir, { recursive: true });
  copyFileSync(join(root, 'tools/run.cjs'), join(root, 'dist/run.cjs'));
  const stamps = new Map();
  const stale = apps.filter((app) => force || !isCurrent(app, stamps));
  if (stale.length === 0) return [];
  onStart?.(stale);
  const esbuild = await import('esbuild');
  await Promise.all(stale.map((app) => bundle(esbuild, app)));
  // Its service would stay, with all it has read, for as long as the cluster that is started next.
  await esbuild.stop();
  return stale;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const args = process.argv.slice(2);
  const apps = args.filter((a) => !a.startsWith('--'));
  const built = await build({ apps: apps.length ? apps : undefined, force: args.includes('--force') });
  console.log(built.length ? `built ${built.join(', ')}` : 'nothing changed');
}
