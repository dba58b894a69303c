// `npm run bench:api [-- --against KUBECONFIG] [--pods 2000] [--watchers 100]`: client load through real HTTPS on an API
// server of its own (durable sqlite, nothing beside it), client included in the load on the machine. With --against the
// same load runs on another server, too, in turns, and ratios are printed.
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from '../../tools/build.mjs';
import { ApiLoad } from './api-load.mjs';
import { readKubeconfig } from './https-client.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const option = (name, fallback) => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? fallback : process.argv[at + 1];
};
const against = option('against');
const size = {
  pods: Number(option('pods', 2000)),
  watchers: Number(option('watchers', 100)),
  watchedCreates: Number(option('watched-creates', 200)),
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
  const status = execFileSync(
    process.execPath,
    [join(root, 'dist/run.cjs'), 'tinkernetes', 'status', `--data-dir=${dataDir}`],
    { encoding: 'utf8' },
  );
  const pid = Number(/^apiserver\s+\S+\s+(\d+)/m.exec(status)?.[1]);
  return {
    name: 'tinkernetes',
    kubeconfig: join(dataDir, 'kubeconfig'),
    rssMB: () => Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024,
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
  value === undefined ? '–' : value.toLocaleString('en', { maximumFractionDigits: digits });

await build();
const own = await startOwn();
const targets = [own];
if (against) targets.push({ name: 'the other', kubeconfig: against, rssMB: () => undefined });
try {
  const loads = targets.map((target) => new ApiLoad(readKubeconfig(target.kubeconfig), size));
  for (const load of loads) await load.prepare();
  const head = targets.map(({ name }) => `${name}: per second | p50 ms | p99 ms`).join(' | ');
  console.log(`Node ${process.version}, ${size.pods} Pods, ${size.watchers} watchers\n`);
  console.log(`| | ${head} |${against ? ' ratio |' : ''}`);
  console.log(`| --- |${targets.map(() => ' --- | --- | --- |').join('')}${against ? ' --- |' : ''}`);
  for (const step of loads[0].steps) {
    const results = [];
    // In turns: what else the machine does meanwhile bears on both.
    for (const load of loads) results.push(await load.run(step));
    const cells = results.map((r) => `${shown(r.perSecond)} | ${shown(r.p50, 2)} | ${shown(r.p99, 2)}`);
    const ratio = against ? ` ${shown(results[0].perSecond / results[1].perSecond, 2)}× |` : '';
    console.log(`| ${results[0].label} | ${cells.join(' | ')} |${ratio}`);
  }
  const lag = await loads[0].eventLoopLag();
  console.log(`\nAPI server after that: ${shown(own.rssMB())} MB resident, event-loop lag ${lag}.`);
  for (const load of loads) await load.cleanUp();
} finally {
  await own.stop();
}
