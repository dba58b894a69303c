// `npm run bench:scheduler [-- --nodes 1000] [--pods 1000]`: decisions per second of the scheduler's default profile in
// this process: filter, score, assume; no queue, no API server. The shapes are those of upstream's scheduler_perf.
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const option = (name, fallback) => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? fallback : Number(process.argv[at + 1]);
};
const size = { nodes: option('nodes', 1000), pods: option('pods', 1000), large: option('large', 5000) };

const folder = mkdtempSync(join(tmpdir(), 'tk-bench-scheduler-'));
const outfile = join(folder, 'shapes.cjs');
try {
  await build({
    entryPoints: [join(root, 'test/bench/scheduler-shapes.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    tsconfig: join(root, 'tsconfig.base.json'),
    logLevel: 'error',
  });
  const { shapes, measure } = createRequire(import.meta.url)(outfile);
  console.log(`Node ${process.version}\n`);
  console.log('| shape | nodes | Pods placed | per second | p50 ms | p99 ms |');
  console.log('| --- | --- | --- | --- | --- | --- |');
  for (const shape of shapes(size)) {
    const { placed, perSecond, p50, p99 } = measure(shape);
    const count = placed === shape.pods ? String(placed) : `${placed} of ${shape.pods}`;
    const cells = [shape.name, shape.nodes, count, Math.round(perSecond), p50.toFixed(2), p99.toFixed(2)];
    console.log(`| ${cells.join(' | ')} |`);
  }
  console.log(`\nResident after that: ${Math.round(process.memoryUsage.rss() / 2 ** 20)} MB.`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
