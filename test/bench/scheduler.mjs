// `npm run bench:scheduler [-- --scale 1] [-- --only 0,3] [-- --https] [-- --memory]`: the shapes of upstream's
// scheduler_perf. Without a flag: the whole scheduler on an API in memory, each shape in a process of its own. `--https`:
// the bundled scheduler against the bundled API server, over TLS, Bindings included (`--binary PATH`: another scheduler's
// executable in its place). `--memory`: what it takes at 5,000 nodes and 30,000 Pods.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { option, root } from './cluster.mjs';
import { measureBinding, measureMemory } from './scheduler-https.mjs';

const flag = (name) => process.argv.includes(`--${name}`);
const text = (name) => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? undefined : process.argv[at + 1];
};
const child = text('child');
if (child !== undefined) {
  const { runNumber } = createRequire(import.meta.url)(child);
  const measured = await runNumber(option('index', 0), option('scale', 1));
  console.log(JSON.stringify(measured ?? null));
} else if (flag('https')) {
  const sizes = { nodes: option('nodes', 1000), pods: option('pods', 3000), binary: text('binary') };
  console.log(await measureBinding(sizes));
} else if (flag('memory')) {
  console.log(await measureMemory({ nodes: option('nodes', 5000), pods: option('pods', 30_000) }));
} else {
  await inProcess();
}

async function inProcess() {
  const folder = mkdtempSync(join(tmpdir(), 'tk-bench-scheduler-'));
  const outfile = join(folder, 'in-process.cjs');
  try {
    await build({
      entryPoints: [join(root, 'test/bench/scheduler/in-process.ts')],
      outfile,
      bundle: true,
      platform: 'node',
      format: 'cjs',
      target: 'node20',
      tsconfig: join(root, 'tsconfig.base.json'),
      logLevel: 'error',
    });
    console.log(`Node ${process.version}\n`);
    console.log('| shape | nodes | Pods | per second | per second of CPU | p50 ms | p99 ms | MB |');
    console.log('| --- | --- | --- | --- | --- | --- | --- | --- |');
    const only = text('only')?.split(',').map(Number);
    for (let index = 0; ; index++) {
      if (only && !only.includes(index)) {
        if (index > Math.max(...only)) break;
        continue;
      }
      const measured = runChild(outfile, index);
      if (!measured) break;
      const { name, nodes, pods, seconds, cpuSeconds, p50, p99, rssMb } = measured;
      const rates = [pods / seconds, pods / cpuSeconds].map(Math.round);
      const cells = [name, nodes, pods, ...rates, p50.toFixed(2), p99.toFixed(2), Math.round(rssMb)];
      console.log(`| ${cells.join(' | ')} |`);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function runChild(outfile, index) {
  const args = [
    ...(flag('profile') ? ['--cpu-prof', `--cpu-prof-dir=${text('profile')}`] : []),
    process.argv[1],
    `--child`,
    outfile,
    '--index',
    String(index),
    '--scale',
    String(option('scale', 1)),
  ];
  const { stdout, status } = spawnSync(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  if (status !== 0) throw new Error(`shape ${index} ended with ${status}`);
  return JSON.parse(String(stdout));
}
