import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { announceAlone, componentsAlone, requireFree, statusAlone } from './components-alone';
import { ClusterLayout } from './layout';

describe('components that run alone', () => {
  let layout: ClusterLayout;

  beforeEach(async () => {
    layout = new ClusterLayout(await mkdtemp(join(tmpdir(), 'alone-')));
  });
  afterEach(() =>
    Promise.all([layout.dataDir, layout.runDir].map((path) => rm(path, { recursive: true, force: true }))),
  );

  it('are found while they run, with what they said when they were ready', async () => {
    const scheduler = { instance: 'scheduler', pid: process.pid, info: { debugPort: 10 } };
    expect(await componentsAlone(layout)).toEqual([]);
    const forget = await announceAlone(layout, scheduler);
    expect(await componentsAlone(layout)).toEqual([scheduler]);
    expect(statusAlone(scheduler)).toMatchObject({ state: 'running', pid: process.pid, restarts: 0 });
    await forget();
    expect(await componentsAlone(layout)).toEqual([]);
  });

  it('are left out when they end while they are looked for', async () => {
    const forget = await announceAlone(layout, { instance: 'scheduler', pid: process.pid, info: {} });
    // Listed, and not there any more.
    await symlink('nowhere', join(layout.runDir, 'alone', 'gone-1.json'));
    expect((await componentsAlone(layout)).map(({ instance }) => instance)).toEqual(['scheduler']);
    await forget();
  });

  it('are forgotten when they were killed', async () => {
    // No process has such an id: the kernel gives none above 4194304.
    await announceAlone(layout, { instance: 'scheduler', pid: 2 ** 30, info: {} });
    expect(await componentsAlone(layout)).toEqual([]);
  });

  it.each([
    ['kubelet', 'kubelet-node-1', 'kubelet-node-1 runs already (pid 7): stop the cluster and start it with'],
    ['kubelet', 'kubelet-node-2', undefined],
    // One of them leads, the other stands by.
    ['scheduler', 'scheduler', undefined],
  ])('may begin beside the cluster where nobody is in their place: %s as %s', (app, instance, refusal) => {
    const running = [
      { instance: 'kubelet-node-1', pid: 7 },
      { instance: 'scheduler', pid: 8 },
    ];
    const start = () => requireFree({ app, instance }, running);
    if (refusal === undefined) expect(start).not.toThrow();
    else expect(start).toThrow(refusal);
  });
});
