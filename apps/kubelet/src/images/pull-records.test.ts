import { silentLogger } from '@tinkernetes/component-base/testing';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SecretCredential } from './keyring';
import { PullRecords } from './pull-records';

let root: string;
beforeEach(() => (root = mkdtempSync(join(tmpdir(), 'pull-records-'))));
afterEach(() => rmSync(root, { recursive: true }));

const credential = (name: string, password: string): SecretCredential => ({
  auth: { username: 'me', password },
  secret: { uid: `uid-of-${name}`, namespace: 'default', name },
});
const mine = credential('mine', 'right');
const now = new Date(0);
const repository = 'registry.example.com/app';
const open = () => new PullRecords(root, silentLogger);

describe('PullRecords', () => {
  it('lets everybody have an image that this kubelet did not pull, or pulled without credentials', () => {
    const records = open();
    expect(records.mustPull(repository, 'preloaded', [])).toBe(false);
    records.pulled(repository, 'public', { credential: undefined, now });
    expect(records.mustPull(repository, 'public', [])).toBe(false);
  });

  it.each<[string, SecretCredential[], boolean]>([
    ['no credentials', [], true],
    ['other ones', [credential('other', 'wrong')], true],
    ['the same Secret', [mine], false],
    ['another Secret with the same credentials', [credential('copy', 'right')], false],
    ['the same Secret with new credentials', [credential('mine', 'renewed')], false],
  ])('asks the registry about a private image for a Pod with %s: %#', (_, credentials, expected) => {
    open().pulled(repository, 'private', { credential: mine, now });
    expect(open().mustPull(repository, 'private', credentials)).toBe(expected);
  });

  it('asks about another name of the same image', () => {
    const records = open();
    records.pulled(repository, 'private', { credential: mine, now });
    expect(records.mustPull('registry.example.com/copy', 'private', [mine])).toBe(true);
  });

  it('adds credentials, and keeps an image public once it was', () => {
    const records = open();
    records.pulled(repository, 'i', { credential: mine, now });
    records.pulled(repository, 'i', { credential: credential('yours', 'too'), now });
    expect(records.mustPull(repository, 'i', [mine])).toBe(false);
    expect(records.mustPull(repository, 'i', [credential('yours', 'too')])).toBe(false);
    records.pulled(repository, 'i', { credential: undefined, now });
    records.pulled(repository, 'i', { credential: mine, now });
    expect(records.mustPull(repository, 'i', [])).toBe(false);
  });

  it('writes no password, and does without a damaged file', () => {
    open().pulled(repository, 'private', { credential: mine, now });
    const directory = join(root, 'image_manager/pulled');
    const [name = ''] = readdirSync(directory);
    expect(readFileSync(join(directory, name), 'utf8')).not.toContain('right');
    writeFileSync(join(directory, name), '{');
    expect(open().mustPull(repository, 'private', [])).toBe(false);
    expect(readdirSync(directory)).toEqual([]);
  });
});
