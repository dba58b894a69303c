import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { realClock, realRandom } from '@tinkernetes/component-base';
import { Cluster, untilAborted } from './cluster';

it('starts nothing when it is asked to stop while it makes its keys', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'tinkernetes-'));
  const start = jest.fn();
  const stop = new AbortController();
  const starting = Cluster.start(
    {
      dataDir,
      nodes: 1,
      apiPort: 0,
      bind: '127.0.0.1',
      storage: 'memory',
      ephemeral: true,
      inProcess: false,
      without: new Set(),
      kubeconfig: join(dataDir, 'kubeconfig'),
      verbosity: 0,
      genericImages: false,
      images: undefined,
      extraConfig: [],
    },
    {
      launcher: () => ({ start }),
      clock: realClock,
      random: realRandom,
      report: () => undefined,
      onStopRequest: () => undefined,
    },
    stop.signal,
  );
  stop.abort(new Error('Ctrl-C'));
  await expect(starting).rejects.toThrow('Ctrl-C');
  expect(start).not.toHaveBeenCalled();
});

it('takes over what fails after the abort, which would end the process otherwise', async () => {
  const unhandled = jest.fn();
  process.on('unhandledRejection', unhandled);
  let fail: (error: Error) => void = () => undefined;
  const work = new Promise<never>((_, reject) => (fail = reject));
  await expect(untilAborted(work, AbortSignal.abort(new Error('Ctrl-C')))).rejects.toThrow('Ctrl-C');
  fail(new Error('killed by SIGTERM'));
  await new Promise((resolve) => setImmediate(resolve));
  process.off('unhandledRejection', unhandled);
  expect(unhandled).not.toHaveBeenCalled();
});
