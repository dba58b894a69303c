import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleProgram } from '../testing/bundle-program';

const program = `
  import { openStorage } from '@tinkernetes/storage';
  import { createLogger, realClock } from '@tinkernetes/component-base';
  void (async () => {
    const logger = createLogger({ component: 'test' });
    const storage = await openStorage('sqlite:' + process.argv[2], { clock: realClock, logger });
    const { modRevision } = await storage.create('/a', Buffer.from('kept'));
    await storage.close();
    console.log(modRevision);
  })();
`;

it.each([
  ['as the apps are', {}],
  ['with shortened names', { minify: true, keepNames: false }],
])('runs its worker thread from a bundle that is built %s', (_, extra) => {
  const data = mkdtempSync(join(tmpdir(), 'storage-'));
  const bundle = bundleProgram({ source: program }, extra);
  try {
    const printed = execFileSync(process.execPath, [bundle.path, join(data, 'store.db')]);
    expect(printed.toString()).toBe('2\n');
  } finally {
    bundle.remove();
    rmSync(data, { recursive: true });
  }
});
