import { existsSync, mkdtempSync, readFileSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { realClock } from '@tinkernetes/component-base';
import { silentLogger } from '@tinkernetes/component-base/testing';
import { openStorage } from '@tinkernetes/storage';
import { startCluster } from '../start-cluster';
import { snapshot } from './snapshot';

describe('snapshot', () => {
  let dataDir: string;
  let file: string;
  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'snapshot-'));
    file = join(dataDir, 'saved');
    jest.spyOn(process.stdout, 'write').mockReturnValue(true);
  });
  afterEach(() => {
    jest.restoreAllMocks();
    rmSync(dataDir, { recursive: true });
  });

  const run = (...args: string[]) => snapshot.run([...args, `--data-dir=${dataDir}`]);
  const open = () =>
    openStorage(`sqlite:${join(dataDir, 'storage/state.db')}`, { clock: realClock, logger: silentLogger });
  const create = async (key: string) => {
    const storage = await open();
    const { modRevision } = await storage.create(key, Buffer.from('1'));
    await storage.close();
    return modRevision;
  };
  const keys = async () => {
    const storage = await open();
    const { items } = await storage.range('/');
    await storage.close();
    return items.map(({ key, modRevision }) => `${key} ${modRevision}`);
  };

  it('brings back what was saved, with its revisions, and drops what came later', async () => {
    const revision = await create('/a');
    await run('save', file);
    await create('/later');
    await run('restore', file);
    expect(await keys()).toEqual([`/a ${revision}`]);
    expect(await create('/b')).toBe(revision + 1);
    expect(existsSync(join(dataDir, 'storage/state.db.before-restore'))).toBe(true);
  });

  it('leaves everything as it was when the snapshot is damaged', async () => {
    const revision = await create('/a');
    await run('save', file);
    truncateSync(file, readFileSync(file).length - 20);
    await expect(run('restore', file)).rejects.toThrow('damaged or incomplete');
    expect(await keys()).toEqual([`/a ${revision}`]);
  });

  it('saves a running cluster, which can then be stopped and restored, but not while it runs', async () => {
    const cluster = await startCluster({ nodes: 0 });
    try {
      const running = `--data-dir=${dirname(cluster.kubeconfigFile)}`;
      await snapshot.run(['save', file, running]);
      await expect(snapshot.run(['restore', file, running])).rejects.toThrow('stop it first');
    } finally {
      await cluster.stop();
    }
    await run('restore', file);
    expect(await keys()).toContainEqual(expect.stringMatching(/^\/registry\/namespaces\/kube-system \d+$/));
  });

  it('saves and restores another store than the default one', async () => {
    const revision = await create('/a');
    await run('save', file);
    const other = `--storage=sqlite:${join(dataDir, 'other.db')}`;
    await run('restore', file, other);
    await run('save', `${file}-2`, other);
    expect(readFileSync(`${file}-2`)).toEqual(readFileSync(file));
    expect(await keys()).toEqual([`/a ${revision}`]);
  });

  it.each([
    [['save'], 'snapshot needs an action and a file'],
    [['copy', 'x'], 'snapshot needs an action and a file'],
    [['save', '/tmp/x'], 'there are no objects'],
    [['restore', '/nowhere/x'], 'there is no snapshot'],
    [['save', '/tmp/x', '--storage=memory'], 'memory keeps nothing'],
  ])('refuses %j', async (args, message) => {
    await expect(run(...args)).rejects.toThrow(message);
  });
});
