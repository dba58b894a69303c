import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { attemptsByLogs, removeLogs } from './container-logs';

describe('the logs of a container', () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'logs-'));
    for (const name of ['0.log', '9.log', '10.log', '10.log.20260101-000000', 'other'])
      await writeFile(join(directory, name), '');
  });
  afterEach(() => rm(directory, { recursive: true }));

  it('tell how often it ran', async () => {
    expect(attemptsByLogs(directory)).toBe(11);
    expect(attemptsByLogs(join(directory, 'none'))).toBe(0);
  });

  it('go by run, with what was rotated', async () => {
    await removeLogs(join(directory, '10.log'));
    expect((await readdir(directory)).sort()).toEqual(['0.log', '9.log', 'other']);
    await removeLogs(join(directory, 'none', '1.log'));
  });
});
