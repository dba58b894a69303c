// `npm run test:compose`: the demo of docker-compose.yml, driven by an unmodified kubectl. Skipped, and counted so,
// where no Docker engine with the two base images can be had.
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setUpClients } from '../test/clients/setup.mjs';
import { installIfNeeded } from './install.mjs';
import { runJest } from './run-jest.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const answers = (command, ...args) => spawnSync(command, args, { stdio: 'ignore' }).status === 0;

/** An engine that is installed but doesn't run is started, where we may, and stopped at the end. */
async function startEngine() {
  if (answers('docker', 'info') || process.getuid?.() !== 0 || !answers('dockerd', '--version'))
    return undefined;
  const engine = spawn('dockerd', [], { stdio: 'ignore' });
  for (let i = 0; i < 60 && engine.exitCode === null; i++) {
    if (answers('docker', 'info')) break;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  return engine;
}

function composeCommand() {
  if (answers('docker', 'compose', 'version')) return ['docker', 'compose'];
  if (answers('docker-compose', 'version')) return ['docker-compose'];
  return undefined;
}

function missing() {
  if (!answers('docker', 'info')) return 'no Docker engine answers';
  if (!composeCommand()) return 'neither `docker compose` nor docker-compose is installed';
  const images = ['node:20-bookworm-slim', 'redis:7-bookworm'];
  const absent = images.filter(
    (i) => !answers('docker', 'image', 'inspect', i) && !answers('docker', 'pull', '-q', i),
  );
  return absent.length ? `no image registry has ${absent.join(' and ')}` : undefined;
}

installIfNeeded();
const engine = await startEngine();
const reason = missing();
if (reason) {
  console.log(`compose: skipped, ${reason}`);
  mkdirSync(join(root, 'test-results'), { recursive: true });
  writeFileSync(
    join(root, 'test-results/compose.json'),
    `${JSON.stringify({ suite: 'compose', passed: 0, failed: 0, skipped: 1 })}\n`,
  );
  engine?.kill();
  process.exit(0);
}
const config = join(root, 'test/compose/jest.config.cjs');
const status = runJest('compose', [...process.argv.slice(2), '--config', config], {
  TINKERNETES_CLIENTS: setUpClients(),
  TINKERNETES_COMPOSE: composeCommand().join(' '),
});
if (engine) {
  const stopped = new Promise((resolve) => engine.once('exit', resolve));
  engine.kill();
  await stopped;
}
process.exit(status);
