import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildSync } from 'esbuild';

const program = `
  import { openStorage } from '@tinkernetes/storage';
  import { realClock } from '@tinkernetes/component-base';
  const logger = { debug() {}, info() {}, warn() {}, error() {}, child: () => logger };
  void (async () => {
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
  const root = join(__dirname, '../../../..');
  // Beside node_modules, from which the bundle takes its native library.
  const folder = mkdtempSync(join(root, 'node_modules/.storage-bundle-'));
  const data = mkdtempSync(join(tmpdir(), 'storage-'));
  try {
    const entry = join(folder, 'program.ts');
    writeFileSync(entry, program);
    buildSync({
      entryPoints: [entry],
      outfile: join(folder, 'program.cjs'),
      bundle: true,
      platform: 'node',
      format: 'cjs',
      target: 'node20',
      tsconfig: join(root, 'tsconfig.base.json'),
      keepNames: true,
      minifySyntax: true,
      minifyWhitespace: true,
      external: ['libsql'],
      ...extra,
    });
    const printed = execFileSync(process.execPath, [join(folder, 'program.cjs'), join(data, 'store.db')]);
    expect(printed.toString()).toBe('2\n');
  } finally {
    rmSync(folder, { recursive: true });
    rmSync(data, { recursive: true });
  }
});
