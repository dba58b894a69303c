import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLogger } from '@tinkernetes/component-base/testing';
import { RecordStore } from './record-store';

describe('RecordStore', () => {
  const directory = mkdtempSync(join(tmpdir(), 'records-'));
  afterAll(() => rmSync(directory, { recursive: true }));
  const open = () => new RecordStore<{ id: string; value: number }>(directory, silentLogger);

  it('has the last of many versions after a restart, however they fall on the writes', async () => {
    const store = open();
    await store.load();
    for (let value = 0; value <= 200; value++) {
      store.save({ id: 'a', value });
      if (value % 3 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    store.save({ id: 'b', value: 1 });
    store.delete('b');
    await store.flush();
    expect(await open().load()).toEqual([{ id: 'a', value: 200 }]);
  });
});
