// `npm run test:critest`: the upstream CRI validation suite against the bundled mock runtime.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import grpc from '@grpc/grpc-js';
import { build } from './build.mjs';
import { installIfNeeded } from './install.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const suiteDir = join(root, 'test/critest');
const results = join(root, 'test-results');
const binary = join(root, 'dist/critest');
/** Specs of different groups share no image tags and no host ports; the suite's serial specs come last, alone. */
const groups = [
  'Streaming|Multiple Containers',
  '\\] Container runtime should|Idempotence|Runtime info',
  '\\] PodSandbox|Networking|OOM|Mount Readonly|Image Volume',
  'Security Context',
];
const serialGroup = 'Image Manager|Image Consistency|Image Identifier';
const groupLimitSeconds = 300;

const floor = Number(readFileSync(join(suiteDir, 'floor.txt'), 'utf8').trim());
const skips = readFileSync(join(suiteDir, 'skip.txt'), 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) => line.split(/ {2,}/)[0]);

mkdirSync(results, { recursive: true });
const goVersion = /go1\.(\d+)/.exec(String(spawnSync('go', ['version']).stdout ?? ''));
// From 1.21 on, Go gets the version that go.mod asks for by itself.
if (Number(goVersion?.[1] ?? 0) < 21)
  skip(`it is a Go program, which needs Go 1.21 or newer; here is ${goVersion?.[0] ?? 'none'}`);
installIfNeeded();
await build({ apps: ['mock-runtime'] });
buildSuite();
const dir = mkdtempSync(join(tmpdir(), 'critest-'));
const runtime = startRuntime();
let specs;
try {
  await configureNetwork();
  const parallel = await Promise.all(groups.map(runGroup));
  specs = [...parallel.flat(), ...(await runGroup(serialGroup, groups.length))];
} finally {
  await stop(runtime);
  rmSync(dir, { recursive: true, force: true });
}
judge(specs);

function buildSuite() {
  if (existsSync(binary)) return;
  const args = ['test', '-mod=mod', '-c', '-o', binary, 'sigs.k8s.io/cri-tools/cmd/critest'];
  const built = spawnSync('go', args, { cwd: suiteDir, encoding: 'utf8' });
  if (built.status === 0) return;
  console.error(built.stderr);
  // Without the network there is nothing to build from, which says nothing about the runtime.
  if (/dial tcp|no such host|proxyconnect|i\/o timeout|toolchain not available/.test(built.stderr))
    skip('its modules could not be downloaded');
  throw new Error('critest could not be built: see the lines above');
}

function skip(reason) {
  console.error(`critest skipped: ${reason}`);
  report({ passed: 0, failed: 0, skipped: 1 });
  process.exit(0);
}

function startRuntime() {
  const log = openSync(join(results, 'critest-runtime.log'), 'w');
  const flags = [
    `--listen=unix://${join(dir, 'cri.sock')}`,
    `--vnet-listen=unix://${join(dir, 'vnet.sock')}`,
    `--root-dir=${join(dir, 'root')}`,
    '--node-name=critest',
    '--node-address=172.30.0.11',
    '--host-alias=172.30.0.0/16=127.0.0.1',
  ];
  return spawn(
    process.execPath,
    ['--enable-source-maps', join(root, 'dist/run.cjs'), 'mock-runtime', ...flags],
    {
      stdio: ['ignore', log, log],
    },
  );
}

/** What the kubelet does when its node has got a Pod range: UpdateRuntimeConfig. The suite leaves that to whoever starts it. */
async function configureNetwork() {
  for (let waited = 0; !existsSync(join(dir, 'cri.sock')); waited += 50) {
    if (waited > 20_000 || runtime.exitCode !== null) throw new Error('the runtime did not start');
    await delay(50);
  }
  const field = (content) => Buffer.concat([Buffer.from([0x0a, content.length]), content]);
  const request = field(field(field(Buffer.from('10.244.1.0/24'))));
  const client = new grpc.Client(`unix://${join(dir, 'cri.sock')}`, grpc.credentials.createInsecure());
  const bytes = (value) => value;
  await new Promise((resolve, reject) => {
    client.makeUnaryRequest(
      '/runtime.v1.RuntimeService/UpdateRuntimeConfig',
      bytes,
      bytes,
      request,
      (error) => (error ? reject(error) : resolve()),
    );
  });
  client.close();
}

/** The specs of one focus that ran, with their states. */
async function runGroup(focus, index) {
  const json = join(dir, `report-${index}.json`);
  const out = openSync(join(results, `critest-${index}.log`), 'w');
  const args = [
    `--runtime-endpoint=unix://${join(dir, 'cri.sock')}`,
    '--ginkgo.no-color',
    `--ginkgo.focus=${focus}`,
    ...skips.map((pattern) => `--ginkgo.skip=${pattern}`),
    `--ginkgo.timeout=${groupLimitSeconds}s`,
    '--ginkgo.grace-period=5s',
    `--ginkgo.json-report=${json}`,
  ];
  const child = spawn(binary, args, { cwd: dir, stdio: ['ignore', out, out] });
  const killer = setTimeout(() => child.kill('SIGKILL'), (groupLimitSeconds + 30) * 1000);
  await new Promise((resolve) => child.once('exit', resolve));
  clearTimeout(killer);
  if (!existsSync(json)) return [{ name: `group ${focus}`, state: 'failed', message: 'left no report' }];
  const [suite] = JSON.parse(readFileSync(json, 'utf8'));
  return suite.SpecReports.filter((spec) => spec.LeafNodeType === 'It').map((spec) => ({
    name: [...(spec.ContainerHierarchyTexts ?? []), spec.LeafNodeText].join(' '),
    state: spec.State,
    // Without a message it was out of this group's focus.
    message: spec.Failure?.Message ?? '',
    seconds: spec.RunTime / 1e9,
  }));
}

function judge(all) {
  const left = skips.map((pattern) => new RegExp(pattern));
  const isLeftOut = ({ name }) => left.some((pattern) => pattern.test(name));
  const seen = all.filter(({ state, message }) => state !== 'skipped' || message !== '');
  const passed = seen.filter(({ state }) => state === 'passed').length;
  // Those of the list, each once (every group's report names all specs), and those that found a feature missing.
  const skipped =
    new Set(all.filter(isLeftOut).map(({ name }) => name)).size +
    seen.filter(({ state }) => state === 'skipped').length;
  const notPassed = seen.filter(({ state }) => state !== 'passed' && state !== 'skipped');
  for (const { name, state, message } of notPassed) {
    console.log(`${state}: ${name}\n    ${message.replace(/\s+/g, ' ').slice(0, 300)}`);
  }
  const slow = seen.filter(({ seconds }) => seconds > 30);
  for (const { name, seconds } of slow) console.log(`slow (${seconds.toFixed(0)} s): ${name}`);
  console.log(`critest: ${passed} passed (floor ${floor}), ${notPassed.length} failed, ${skipped} skipped`);
  report({ passed, failed: notPassed.length, skipped });
  if (passed < floor) process.exitCode = 1;
}

function report(counts) {
  writeFileSync(join(results, 'critest.json'), `${JSON.stringify({ suite: 'critest', ...counts })}\n`);
}

async function stop(child) {
  if (child.exitCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  await ended;
}
