// `npm run bench:api`: client load through real HTTPS on an API server of its own (durable sqlite, nothing beside it),
// client included in the load on the machine.
//   --against KUBECONFIG   the same load on another server, too, in turns, with ratios
//   --pods 2000 --many 20000 --watchers 100,1000 --warm-up 1000   sizes; --many 0 leaves the large lists out
//   --growth 50000         instead: what a create costs as the objects grow to so many, with a chart in docs/
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from '../../tools/build.mjs';
import { ApiLoad } from './api-load.mjs';
import { growthChart } from './growth-chart.mjs';
import { readKubeconfig } from './https-client.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const option = (name, fallback) => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? fallback : process.argv[at + 1];
};
const against = option('against');
const growth = Number(option('growth', 0));
const size = {
  pods: Number(option('pods', 2000)),
  many: Number(option('many', 20_000)),
  watchers: option('watchers', '100,1000').split(',').map(Number),
  watchedCreates: Number(option('watched-creates', 200)),
  warmUp: Number(option('warm-up', 1000)),
};

/** An API server as `tinkernetes up` starts it, without anything that would add load. */
async function startOwn() {
  const dataDir = mkdtempSync(join(tmpdir(), 'tk-bench-api-'));
  const child = spawn(
    process.execPath,
    [
      join(root, 'dist/run.cjs'),
      'tinkernetes',
      'up',
      ...[`--data-dir=${dataDir}`, '--api-port=0', '--nodes=0'],
      '--without=controller-manager,scheduler,kube-proxy,cluster-dns,kubelet,mock-runtime',
    ],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let printed = '';
  child.stderr.on('data', (chunk) => (printed += chunk));
  const onExit = () => {
    throw new Error(`the cluster did not start:\n${printed}`);
  };
  child.once('exit', onExit);
  await new Promise((resolve) =>
    child.stdout.on('data', (chunk) => String(chunk).includes('Cluster ready') && resolve()),
  );
  return {
    name: 'tinkernetes',
    kubeconfig: join(dataDir, 'kubeconfig'),
    async stop() {
      child.off('exit', onExit);
      const gone = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGTERM');
      await gone;
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

const shown = (value, digits = 0) =>
  Number.isFinite(value) ? value.toLocaleString('en', { maximumFractionDigits: digits }) : '–';

const columns = ['per second', 'p50 ms', 'p99 ms', 'server CPU ms each', 'lag ms'];
const cellsOf = ({ perSecond, p50, p99, cpuMs, lagMs }) => [
  shown(perSecond),
  shown(p50, 2),
  shown(p99, 2),
  shown(cpuMs, 3),
  shown(lagMs),
];
const row = (cells) => `| ${cells.join(' | ')} |`;

async function compare(targets) {
  const loads = targets.map((target) => new ApiLoad(readKubeconfig(target.kubeconfig), size));
  for (const load of loads) await load.prepare();
  const head = targets.flatMap(({ name }) =>
    columns.map((column, i) => (i === 0 ? `${name}: ${column}` : column)),
  );
  const ratios = targets.length > 1 ? ['ratio'] : [];
  console.log(row(['', ...head, ...ratios]));
  console.log(row(['', ...head, ...ratios].map(() => '---')));
  for (const step of Object.keys(loads[0].steps)) {
    // While all Pods are there.
    if (step === 'delete') await tellMemory(targets, loads);
    const results = [];
    // In turns: what else the machine does meanwhile bears on both.
    for (const load of loads) results.push(await load.run(step));
    const ratio = ratios.map(() => `${shown(results[0].perSecond / results[1].perSecond, 2)}×`);
    console.log(row([results[0].label, ...results.flatMap(cellsOf), ...ratio]));
  }
  await tellMemory(targets, loads);
  for (const load of loads) await load.cleanUp();
}

/** A row of its own, so that the table stays one. */
async function tellMemory(targets, loads) {
  const cells = await Promise.all(
    loads.map(async (load) => [shown((await load.server()).residentMB), ...columns.slice(1).map(() => '')]),
  );
  console.log(row(['resident MB', ...cells.flat(), ...(targets.length > 1 ? [''] : [])]));
}

async function grow(target) {
  const load = new ApiLoad(readKubeconfig(target.kubeconfig), size);
  await load.prepare();
  console.log(row(['objects', 'creates per second', 'server CPU ms each', 'resident MB']));
  console.log(row(['---', '---', '---', '---']));
  const points = [];
  const step = Math.max(1, Math.round(growth / 10));
  for (let count = step; count <= growth; count += step) {
    // Of each step only the last thousand is measured.
    if (step > 1000) await load.grow(step - 1000);
    const { perSecond, cpuMs, residentMB } = await load.grow(Math.min(step, 1000));
    points.push({ count, cpuMs, residentMB });
    console.log(row([shown(count), shown(perSecond), shown(cpuMs, 3), shown(residentMB)]));
  }
  const file = join(root, 'docs/growth.svg');
  writeFileSync(file, growthChart(points));
  console.log(`\nChart: ${file}`);
  await load.cleanUp();
}

await build();
const own = await startOwn();
const targets = [own, ...(against ? [{ name: 'the other', kubeconfig: against }] : [])];
try {
  console.log(`Node ${process.version}, load of the machine at the start ${loadavg()[0].toFixed(1)}\n`);
  await (growth ? grow(own) : compare(targets));
} finally {
  await own.stop();
}
