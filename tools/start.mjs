// `npm start [-- FLAGS]`: installs if needed, builds what changed, then runs `tinkernetes up` in this very process.
import { createRequire } from 'node:module';
import { installIfNeeded } from './install.mjs';

installIfNeeded();
const { build } = await import('./build.mjs');
await build({
  onStart: (apps) => console.error(`Building ${apps.length} ${apps.length === 1 ? 'app' : 'apps'} …`),
});
createRequire(import.meta.url)('../dist/run.cjs').run('tinkernetes', ['up', ...process.argv.slice(2)]);
