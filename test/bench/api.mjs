// `npm run bench:api`: client load through real HTTPS on an API server of its own (durable sqlite, nothing beside it),
// client included in the load on the machine.
//   --against-upstream     the same load, in turns, on kube-apiserver and etcd, with ratios; builds them with `go` the first
//                          time, or takes them from `--binaries FOLDER`
//   --against KUBECONFIG   the same on a server that runs already
//   --pods 2000 --many 20000 --watchers 100,1000 --warm-up 3000   sizes; --many 0 leaves the large lists out
//   --growth 50000         instead: what a create and a watch event cost as the objects grow to so many (--warm-up 10000),
//                          with a chart in docs/ (or in the file that --chart names)
import { writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { build } from '../../tools/build.mjs';
import { measureGrowth } from './api-growth.mjs';
import { runningServer, startOwn, startUpstream } from './api-servers.mjs';
import { stepsOf } from './api-steps.mjs';
import { root } from './cluster.mjs';
import { growthChart } from './growth-chart.mjs';
import { head, row, shown } from './markdown-table.mjs';
import { PodLoad } from './pod-load.mjs';

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
  warmUp: Number(option('warm-up', growth ? 10_000 : 3000)),
};

/** Of one server in a row; only ours tells its event loop's lag. */
const columnsOf = ({ isNode }) => [
  'per second',
  'p50 ms',
  'p99 ms',
  'CPU ms each',
  ...(isNode ? ['lag ms'] : []),
];
const cellsOf = ({ isNode }, result) => {
  if (result.isMemory) return columnsOf({ isNode }).map((_, i) => (i === 0 ? shown(result.residentMB) : ''));
  const { perSecond, p50, p99, cpuMs, lagMs } = result;
  const cells = [shown(perSecond), shown(p50, 2), shown(p99, 2), shown(cpuMs, 3)];
  return [...cells, ...(isNode ? [shown(lagMs)] : [])];
};

/** How many times as much ours does in the same time and with the same CPU, or how much less memory it needs. */
function ratiosOf([ours, theirs]) {
  const times = (ratio) => `${shown(ratio, 1)}×`;
  if (ours.isMemory) return [times(theirs.residentMB / ours.residentMB), ''];
  return [times(ours.perSecond / theirs.perSecond), times(theirs.cpuMs / ours.cpuMs)];
}

async function compare(targets) {
  const loads = targets.map((target) => new PodLoad(target));
  for (const load of loads) {
    await load.prepare();
    // All get the same chance: what runs for days is compared, not what has just started.
    await load.warmUp(size.warmUp);
    await load.probe.read();
  }
  const isCompared = targets.length > 1;
  console.log(targets.map(({ name }) => name).join(' | '));
  console.log(head(['', ...targets.flatMap(columnsOf), ...(isCompared ? ['ratio', 'by CPU'] : [])]));
  const steps = loads.map((load) => stepsOf(load, size));
  for (let i = 0; i < steps[0].length; i++) {
    const results = [];
    // In turns: what else the machine does meanwhile bears on all.
    for (const own of steps) results.push(await own[i]());
    const cells = results.flatMap((result, at) => cellsOf(targets[at], result));
    console.log(row([results[0].label, ...cells, ...(isCompared ? ratiosOf(results) : [])]));
  }
  for (const load of loads) await load.cleanUp();
}

async function grow(target) {
  const points = await measureGrowth(new PodLoad(target), { upTo: growth, warmUp: size.warmUp });
  const file = option('chart', join(root, 'docs/growth.svg'));
  writeFileSync(file, growthChart(points));
  console.log(`\nChart: ${file}`);
}

await build();
const targets = [];
try {
  targets.push(await startOwn());
  if (process.argv.includes('--against-upstream')) targets.push(await startUpstream());
  if (against) targets.push(runningServer(against));
  console.log(`Node ${process.version}, load of the machine at the start ${loadavg()[0].toFixed(1)}\n`);
  await (growth ? grow(targets[0]) : compare(targets));
} finally {
  for (const target of targets) await target.stop();
}
