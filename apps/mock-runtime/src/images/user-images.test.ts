import { realClock } from '@tinkernetes/component-base';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadImages } from './user-images';

describe('--images', () => {
  let directory: string;
  beforeEach(() => void (directory = mkdtempSync(join(tmpdir(), 'images-'))));
  afterEach(() => rmSync(directory, { recursive: true }));

  const load = (text: string, limitMs?: number) => {
    const file = join(directory, 'images.ts');
    writeFileSync(file, text);
    return loadImages(file, realClock, limitMs);
  };

  it.each([
    [
      'a list',
      "import { defineImage } from '@tinkernetes/mock-runtime';\nexport default [defineImage('acme/a', async () => 0)];",
    ],
    ['a function', "export default async ({ defineImage }) => [defineImage('acme/a', async () => 0)];"],
  ])('takes %s of images', async (_title, text) => {
    expect((await load(text)).map(({ repository }) => repository)).toEqual(['docker.io/acme/a']);
  });

  it.each([
    ['is no TypeScript', 'export default [', /--images .*images\.ts: .*ERROR: Unexpected end of file/s],
    ['has no default export', 'export const images = [];', /its default export must be a list of images/],
    ['throws', "throw new TypeError('not today');", /--images .*images\.ts: TypeError: not today$/],
    ['throws nothing at all', 'throw undefined;', /images\.ts: undefined$/],
    ['rejects', "export default () => Promise.reject(new Error('no'));", /images\.ts: Error: no$/],
    [
      'asks for what is not there',
      "import 'no-such-package-at-all';",
      /Cannot find module 'no-such-package-at-all'/,
    ],
    ['never comes to an end', 'for (;;);', /it has not given its images after 0\.1 s$/],
    [
      'waits forever',
      'export default () => new Promise(() => undefined);',
      /not given its images after 0\.1 s$/,
    ],
  ])('says what is wrong with a file that %s', async (_title, text, message) => {
    // Only what never ends is to meet the limit.
    const limitMs = message.source.includes('0\\.1') ? 100 : undefined;
    await expect(load(text, limitMs)).rejects.toThrow(message);
  });
});
