import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLogger } from '@tinkernetes/component-base/testing';
import { RecordStore } from './record-store';

interface TestRecord {
  id: string;
  value: number;
  bytes?: Buffer;
}

describe('RecordStore', () => {
  const directory = mkdtempSync(join(tmpdir(), 'records-'));
  const stores: RecordStore<TestRecord>[] = [];
  afterAll(() => {
    for (const store of stores) store.close();
    rmSync(directory, { recursive: true });
  });
  const open = (name: string) => {
    const store = new RecordStore<TestRecord>(join(directory, name), silentLogger);
    stores.push(store);
    return store;
  };

  it('has the last of many versions after a restart, without having been closed', () => {
    const store = open('versions');
    store.load();
    for (let value = 0; value <= 200; value++) store.save({ id: 'a', value, bytes: Buffer.from([value]) });
    store.save({ id: 'b', value: 1 });
    store.delete('b');
    expect(open('versions').load()).toEqual([{ id: 'a', value: 200, bytes: Buffer.from([200]) }]);
  });

  it('loses only the line that is damaged', () => {
    const store = open('damaged');
    store.load();
    store.save({ id: 'a', value: 1 });
    appendFileSync(join(directory, 'damaged'), '{"id":"b","va\n');
    store.save({ id: 'c', value: 3 });
    expect(open('damaged').load()).toEqual([
      { id: 'a', value: 1 },
      { id: 'c', value: 3 },
    ]);
  });

  (existsSync('/dev/full') ? it : it.skip)('catches up once the disk has room again', () => {
    const file = join(directory, 'full');
    const store = open('full');
    store.load();
    rmSync(file);
    symlinkSync('/dev/full', file);
    store.save({ id: 'a', value: 1 });
    rmSync(file);
    store.save({ id: 'b', value: 2 });
    expect(open('full').load()).toEqual([
      { id: 'a', value: 1 },
      { id: 'b', value: 2 },
    ]);
  });

  it('does not grow with every change', () => {
    const store = open('short');
    store.load();
    for (let value = 0; value < 5000; value++) store.save({ id: 'a', value });
    expect(readFileSync(join(directory, 'short'), 'utf8').split('\n').length).toBeLessThan(1100);
    expect(open('short').load()).toEqual([{ id: 'a', value: 4999 }]);
  });
});
