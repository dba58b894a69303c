import { realClock } from '@tinkernetes/component-base';
import { eventually } from '@tinkernetes/component-base/testing';
import { appendFile, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readLogs, type LogOptions } from './log-reader';

const line = (second: number, text: string, stream = 'stdout', tag = 'F') =>
  `2026-01-01T00:00:0${second}.000000001Z ${stream} ${tag} ${text}\n`;

describe('readLogs', () => {
  let directory: string;
  let path: string;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'logs-'));
    path = join(directory, '0.log');
    await writeFile(
      path,
      line(1, 'one') +
        line(2, 'two', 'stderr') +
        line(3, 'thr', 'stdout', 'P') +
        line(3, 'ee') +
        line(4, 'four'),
    );
  });
  afterEach(() => rm(directory, { recursive: true }));

  const optionsOf = (options: Partial<LogOptions>): LogOptions => ({
    follow: false,
    timestamps: false,
    tailLines: undefined,
    limitBytes: undefined,
    since: undefined,
    stream: undefined,
    isRunning: () => Promise.resolve(false),
    clock: realClock,
    signal: new AbortController().signal,
    ...options,
  });
  const read = async (options: Partial<LogOptions> = {}) => {
    const chunks: Buffer[] = [];
    for await (const chunk of readLogs(path, optionsOf(options))) chunks.push(chunk);
    return Buffer.concat(chunks).toString();
  };

  it.each([
    ['everything, partial lines joined', {}, 'one\ntwo\nthree\nfour\n'],
    ['the last lines', { tailLines: 1 }, 'four\n'],
    ['nothing for a tail of 0', { tailLines: 0 }, ''],
    ['all when the tail is longer than the log', { tailLines: 99 }, 'one\ntwo\nthree\nfour\n'],
    ['since a time', { since: Date.parse('2026-01-01T00:00:03Z') }, 'three\nfour\n'],
    ['so many bytes', { limitBytes: 6 }, 'one\ntw'],
    ['one stream', { stream: 'stderr' as const }, 'two\n'],
  ])('gives %s', async (_title, options, expected) => {
    expect(await read(options)).toBe(expected);
  });

  it('puts the time before each line', async () => {
    expect(await read({ timestamps: true, tailLines: 1 })).toBe('2026-01-01T00:00:04.000000001Z four\n');
  });

  it('reads rotated files before the current one', async () => {
    await rename(path, `${path}.20260101-000005`);
    await writeFile(path, line(6, 'six'));
    expect(await read()).toBe('one\ntwo\nthree\nfour\nsix\n');
    expect(await read({ tailLines: 2 })).toBe('four\nsix\n');
  });

  it('follows what is written, over a rotation, until the container has ended', async () => {
    let running = true;
    let text = '';
    const following = (async () => {
      for await (const chunk of readLogs(
        path,
        optionsOf({ follow: true, tailLines: 1, isRunning: () => Promise.resolve(running) }),
      )) {
        text += chunk.toString();
      }
    })();
    await eventually(() => text === 'four\n');
    await appendFile(path, line(5, 'five'));
    await eventually(() => text === 'four\nfive\n');
    await rename(path, `${path}.old`);
    await writeFile(path, line(6, 'six'));
    await eventually(() => text.endsWith('six\n'));
    running = false;
    await appendFile(path, line(7, 'seven'));
    await following;
    expect(text).toBe('four\nfive\nsix\nseven\n');
  });

  it('gives nothing for a container that has not logged yet', async () => {
    path = join(directory, 'absent.log');
    expect(await read()).toBe('');
  });
});
