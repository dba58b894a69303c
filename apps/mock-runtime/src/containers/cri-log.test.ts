import { realClock } from '@tinkernetes/component-base';
import { silentLogger } from '@tinkernetes/component-base/testing';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CriLog } from './cri-log';

describe('a container log', () => {
  let directory: string;
  beforeAll(() => (directory = mkdtempSync(join(tmpdir(), 'cri-log-'))));
  afterAll(() => rmSync(directory, { recursive: true }));

  const written = async (...pieces: (string | Buffer)[]): Promise<string[]> => {
    const path = join(directory, `${pieces.length}-${pieces[0]?.length}.log`);
    const log = new CriLog(path, realClock, silentLogger);
    for (const piece of pieces) log.append('stdout', Buffer.from(piece));
    await log.close();
    const lines = readFileSync(path, 'latin1').trimEnd().split('\n');
    return lines.map((line) => line.slice(line.indexOf(' ') + 1));
  };

  it('marks whole lines F, and a last one without its end P', async () => {
    expect(await written('one\ntwo', ' and a half\n', 'three')).toEqual([
      'stdout F one',
      'stdout F two and a half',
      'stdout P three',
    ]);
  });

  it('parts lines of more than 16 KiB', async () => {
    const lines = await written(`${'x'.repeat(40_000)}\n`);
    expect(lines.map((line) => [line.slice(0, 8), line.length - 'stdout F '.length])).toEqual([
      ['stdout P', 16384],
      ['stdout P', 16384],
      ['stdout F', 7232],
    ]);
  });

  it('keeps every byte, also of characters that come in pieces', async () => {
    const bytes = Buffer.from('grüße\n');
    const [line = ''] = await written(bytes.subarray(0, 3), bytes.subarray(3), Buffer.from([0xff, 0x0a]));
    expect(Buffer.from(line, 'latin1').toString()).toBe('stdout F grüße');
    expect((await written(Buffer.from([0xff, 0x00, 0x0a])))[0]).toBe('stdout F \xff\0');
  });
});
