import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RuntimeContainer } from './pod-runtime-status';
import { terminationMessage } from './termination-message';

describe('terminationMessage', () => {
  let directory: string;
  beforeEach(async () => (directory = await mkdtemp(join(tmpdir(), 'tk-words-'))));
  afterEach(() => rm(directory, { recursive: true }));

  async function messageOf(
    { file = '', log = '' }: { file?: string; log?: string },
    {
      policy,
      exitCode = 1,
      containers = 1,
    }: { policy?: string; exitCode?: number; containers?: number } = {},
  ): Promise<string> {
    const [path, logPath] = [join(directory, 'file'), join(directory, 'log')];
    await writeFile(path, file);
    await writeFile(logPath, log);
    const exited: Partial<RuntimeContainer> = { exitCode, message: '', logPath, lastWords: { path, policy } };
    return terminationMessage(undefined, exited as RuntimeContainer, containers);
  }
  const line = (text: string, tag = 'F') => `2026-01-01T00:00:00Z stdout ${tag} ${text}\n`;
  const policy = 'FallbackToLogsOnError';

  it('is what the container wrote, whatever its log says', async () => {
    expect(await messageOf({ file: 'last words\n', log: line('x') }, { policy })).toBe('last words\n');
  });

  it('is the end of the log of a container that failed, where its policy says so', async () => {
    const log = line('one ', 'P') + line('line') + line('') + line('end');
    expect(await messageOf({ log }, { policy })).toBe('one line\n\nend\n');
    expect(await messageOf({ log }, { policy, exitCode: 0 })).toBe('');
    expect(await messageOf({ log })).toBe('');
  });

  it('is the last bytes of what is too long', async () => {
    expect(await messageOf({ file: `begin${'a'.repeat(4096)}` })).toBe('a'.repeat(4096));
    const lines = Array.from({ length: 5000 }, (_, i) => line(`line ${i}`)).join('');
    const end = await messageOf({ log: lines }, { policy });
    expect(end.split('\n').length - 1).toBe(80);
    expect(end).toMatch(/^line 4920\n[\s\S]*line 4999\n$/);
    expect(await messageOf({ log: line('b'.repeat(16_000)) }, { policy })).toBe(`${'b'.repeat(2047)}\n`);
  });

  it('leaves room for the other containers of the Pod', async () => {
    expect(await messageOf({ file: 'a'.repeat(4096) }, { containers: 12 })).toBe('a'.repeat(1024));
  });
});
