import { silentLogger, VirtualClock } from '@tinkernetes/component-base/testing';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LogRotator } from './log-rotator';
import type { RuntimeContainer } from './pod-runtime-status';

describe('LogRotator', () => {
  let directory: string;
  let logPath: string;
  let reopened: number;
  const clock = new VirtualClock();

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'rotate-'));
    logPath = join(directory, '0.log');
    reopened = 0;
  });
  afterEach(() => rm(directory, { recursive: true }));

  const container = () => ({ id: 'id', name: 'c', state: 'running', logPath }) as RuntimeContainer;
  const rotator = (reopen: () => Promise<object> = () => writeFile(logPath, '').then(() => ({}))) =>
    new LogRotator({
      runtime: { reopenContainerLog: () => (reopened++, reopen()) },
      clock,
      logger: silentLogger,
      maxSize: 10,
      maxFiles: 3,
    });

  it('leaves a log alone that is below its size', async () => {
    await writeFile(logPath, 'short');
    await rotator().rotate([container()]);
    expect(await readdir(directory)).toEqual(['0.log']);
    expect(reopened).toBe(0);
  });

  it('keeps so many files, the newest, and has the container open a new one', async () => {
    for (const text of ['first 1234567', 'second 123456', 'third 1234567']) {
      await writeFile(logPath, text);
      await rotator().rotate([container()]);
      await clock.advance(1000);
    }
    const names = (await readdir(directory)).sort();
    expect(names).toEqual(['0.log', '0.log.20260101-000001', '0.log.20260101-000002']);
    expect(await readFile(join(directory, names[2] ?? ''), 'utf8')).toBe('third 1234567');
    expect(reopened).toBe(3);
  });

  it('gives the log its name back when the runtime does not reopen it', async () => {
    await writeFile(logPath, 'long enough to rotate');
    await rotator(() => Promise.reject(new Error('no'))).rotate([container()]);
    expect(await readFile(logPath, 'utf8')).toBe('long enough to rotate');
    expect(await readdir(directory)).toEqual(['0.log']);
  });
});
