import {
  copyFileSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { realClock } from '@tinkernetes/component-base';
import { VirtualClock } from '@tinkernetes/component-base/testing';
import { bytes, text, WatchRecording } from '../testing';
import { StorageUnusableError } from '../types';
import { openSqliteStorage } from './open-sqlite-storage';

interface Tool {
  exec(sql: string): void;
  close(): void;
}
type ToolClass = new (file: string) => Tool;

/** Runs SQL on a closed database file, as an operator's tool would. */
function runSql(file: string, sql: string): void {
  const load = createRequire(__filename);
  const Database = isBuiltin('node:sqlite')
    ? (load('node:sqlite') as { DatabaseSync: ToolClass }).DatabaseSync
    : (load('libsql') as ToolClass);
  const db = new Database(file);
  db.exec(sql);
  db.close();
}

describe('sqlite file', () => {
  let folder: string;
  let file: string;
  const open = (path = file, clock = new VirtualClock()) => openSqliteStorage(path, { clock });
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'storage-'));
    file = join(folder, 'state', 'store.db');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  /** A closed store with `count` keys. */
  async function filled(count = 200): Promise<void> {
    const storage = await open();
    await Promise.all(
      Array.from({ length: count }, (_, i) => storage.create(`/k/${i}`, bytes('x'.repeat(500)))),
    );
    await storage.close();
  }

  it('holds everything when it is opened again: values, revisions, history, expiry', async () => {
    const first = await open();
    const a1 = await first.create('/a', bytes('1'), { trace: 't' });
    await first.update('/a', bytes('2'), a1.modRevision);
    const gone = await first.create('/gone', bytes('1'));
    await first.delete('/gone', gone.modRevision);
    const short = await first.create('/short', bytes('1'), { ttlSeconds: 60 });
    const before = await first.range('');
    await first.close();

    const clock = new VirtualClock();
    const second = await open(file, clock);
    expect((await second.range('')).items.map(({ key, modRevision }) => [key, modRevision])).toEqual(
      before.items.map(({ key, modRevision }) => [key, modRevision]),
    );
    expect(await second.currentRevision()).toBe(short.modRevision);
    const watch = await new WatchRecording(second, '/', 1).reached(short.modRevision);
    expect(watch.events.map(({ type, key, previous }) => [type, key, text(previous)])).toEqual([
      ['PUT', '/a', undefined],
      ['PUT', '/a', '1'],
      ['PUT', '/gone', undefined],
      ['DELETE', '/gone', '1'],
      ['PUT', '/short', undefined],
    ]);
    await watch.stop();
    await clock.advance(61_000);
    await new WatchRecording(second, '/', short.modRevision).reached(short.modRevision + 1);
    expect((await second.get('/short')).item).toBeUndefined();
    await second.close();
  });

  it('never goes back in revisions, even when the newest one was a deletion that has been compacted', async () => {
    const first = await open();
    const made = await first.create('/a', bytes('1'));
    const { revision } = await first.delete('/a', made.modRevision);
    await first.compact(revision);
    await first.close();
    const second = await open();
    expect((await second.create('/a', bytes('1'))).modRevision).toBe(revision + 1);
    await second.close();
  });

  it('shrinks its history by itself, and keeps the last five minutes', async () => {
    const clock = new VirtualClock();
    const storage = await open(file, clock);
    let { modRevision } = await storage.create('/a', bytes('0'));
    for (let i = 1; i <= 300; i++)
      ({ modRevision } = await storage.update('/a', bytes(String(i)), modRevision));
    await clock.advance(300_000);
    expect(text((await storage.get('/a', { revision: 100 })).item)).toBe('98');
    const kept = await storage.update('/a', bytes('kept'), modRevision);
    await clock.advance(299_999);
    expect(text((await storage.get('/a', { revision: modRevision })).item)).toBe('300');
    await clock.advance(1);
    await expect(storage.get('/a', { revision: 100 })).rejects.toThrow('compacted');
    expect(text((await storage.get('/a', { revision: modRevision })).item)).toBe('300');
    expect(text((await storage.get('/a', { revision: kept.modRevision })).item)).toBe('kept');
    await storage.close();
  });

  it('can be read by its owner only', async () => {
    await filled(1);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('turns a second server away, and lets it in when the first has gone', async () => {
    const first = await open();
    await first.create('/a', bytes('1'));
    await expect(open()).rejects.toThrow(/in use by another server/);
    expect(text((await first.get('/a')).item)).toBe('1');
    await first.close();
    await (await open()).close();
  });

  it.each([
    [
      'text',
      (path: string) =>
        writeFileSync(path, 'not a database, but long enough to be looked at as one '.repeat(99)),
      /damaged/,
    ],
    ['a file cut in the middle', (path: string) => truncateSync(path, 3 * 4096), /damaged/],
    [
      'a file with a page overwritten',
      (path: string) => {
        const content = readFileSync(path);
        content.fill(0x5a, 2 * 4096, 4 * 4096);
        writeFileSync(path, content);
      },
      /damaged/,
    ],
    ['a newer schema', (path: string) => runSql(path, 'PRAGMA user_version = 99'), /newer version/],
    [
      "another program's database",
      (path: string) => {
        rmSync(path);
        runSql(path, 'CREATE TABLE t (a)');
      },
      /another program/,
    ],
  ])('refuses %s and leaves it as it was', async (_, spoil, message) => {
    await filled();
    spoil(file);
    const copy = join(folder, 'copy');
    copyFileSync(file, copy);
    const error = await open().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(StorageUnusableError);
    expect((error as Error).message).toMatch(message);
    expect((error as Error).message).toContain(file);
    expect(readFileSync(file).equals(readFileSync(copy))).toBe(true);
  });

  it('says what is wrong when the folder cannot be made', async () => {
    writeFileSync(join(folder, 'plain'), '');
    await expect(open(join(folder, 'plain', 'store.db'))).rejects.toThrow(/writable folder/);
  });

  it('opens a store of 10,000 objects in well under a second', async () => {
    const storage = await openSqliteStorage(file, { clock: realClock });
    await Promise.all(
      Array.from({ length: 10_000 }, (_, i) =>
        storage.create(`/registry/pods/default/p-${i}`, bytes('x'.repeat(1500))),
      ),
    );
    await storage.close();
    // CPU time, not what passes: other tests run beside this one.
    const start = process.cpuUsage();
    const again = await openSqliteStorage(file, { clock: realClock });
    const { user, system } = process.cpuUsage(start);
    expect((await again.range('/registry/pods/', { countOnly: true })).count).toBe(10_000);
    await again.close();
    expect((user + system) / 1000).toBeLessThan(1500);
  });
});
