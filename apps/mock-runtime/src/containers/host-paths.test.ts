import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeMissingHostPaths } from './host-paths';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'host-paths-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

it('makes the directories that are missing, and leaves alone what is there', () => {
  const file = join(root, 'file');
  writeFileSync(file, 'kept');
  const missing = join(root, 'a', 'b');
  makeMissingHostPaths([{ hostPath: missing }, { hostPath: file }, { hostPath: '' }]);
  expect(statSync(missing).isDirectory()).toBe(true);
  expect(readFileSync(file, 'utf8')).toBe('kept');
});

it('says what it cannot make', () => {
  const file = join(root, 'file');
  writeFileSync(file, '');
  const hostPath = join(file, 'a');
  expect(() => makeMissingHostPaths([{ hostPath }])).toThrow(`failed to mkdir "${hostPath}": ENOTDIR`);
  expect(existsSync(hostPath)).toBe(false);
});

const onLinux = process.platform === 'linux' ? it : it.skip;
onLinux('gives up in /proc', () => {
  expect(() => makeMissingHostPaths([{ hostPath: '/proc/tinkernetes/a' }])).toThrow('failed to mkdir');
});
