// `npm run component NAME [-- --inspect FLAGS]`: one component alone, under a debugger, against the running cluster.
import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installIfNeeded } from './install.mjs';

installIfNeeded();
const { build } = await import('./build.mjs');
await build();
const here = dirname(fileURLToPath(import.meta.url));
const args = process.argv.slice(2);
const nodeFlags = args.filter((a) => a.startsWith('--inspect'));
const rest = args.filter((a) => !a.startsWith('--inspect'));
const child = spawn(
  process.execPath,
  ['--enable-source-maps', ...nodeFlags, join(here, '../dist/run.cjs'), 'tinkernetes', 'run', ...rest],
  { stdio: 'inherit' },
);
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
child.on('exit', (code, signal) => process.exit(signal ? 1 : (code ?? 1)));
