import type { Probe } from '@tinkernetes/api';
import { VirtualClock } from '@tinkernetes/component-base/testing';
import { ProbeWorker } from './probe-worker';
import type { ProbeKind, ProbeOutcome } from './prober';

describe('ProbeWorker', () => {
  function start(kind: ProbeKind, probe: Probe, answer: (run: number) => ProbeOutcome['result']) {
    const clock = new VirtualClock();
    const seen = { runs: [] as number[], results: [] as string[], failures: 0 };
    const begun = clock.now();
    const worker = new ProbeWorker({
      kind,
      probe,
      clock,
      startedAt: begun,
      run: () => {
        seen.runs.push(clock.now() - begun);
        return Promise.resolve({ result: answer(seen.runs.length), output: '' });
      },
      onTrouble: () => seen.failures++,
      onResult: (result) => seen.results.push(`${result}@${clock.now() - begun}`),
    });
    return { clock, seen, worker };
  }

  it('waits for the initial delay and then probes every period', async () => {
    const { clock, seen, worker } = start(
      'liveness',
      { initialDelaySeconds: 3, periodSeconds: 5 },
      () => 'success',
    );
    await clock.advance(14_000);
    expect(seen.runs).toEqual([3000, 8000, 13_000]);
    worker.stop();
    expect(clock.timers).toBe(0);
  });

  it('fails a liveness probe after so many failures in a row, and then ends', async () => {
    const { clock, seen } = start('liveness', { periodSeconds: 1, failureThreshold: 3 }, (run) =>
      run === 2 ? 'success' : 'failure',
    );
    await clock.advance(20_000);
    expect(seen.results).toEqual(['success@1000', 'failure@4000']);
    expect(clock.timers).toBe(0);
  });

  it('tries a readiness probe early, counting only a success', async () => {
    const { clock, seen, worker } = start('readiness', { periodSeconds: 10 }, (run) =>
      run < 3 ? 'failure' : 'success',
    );
    await clock.advance(1000);
    expect(seen.results).toEqual(['success@200']);
    expect(seen.failures).toBe(0);
    worker.stop();
  });

  it('reports readiness lost and found again by its thresholds', async () => {
    const answers = ['success', 'failure', 'failure', 'success', 'success'] as const;
    const { clock, seen, worker } = start(
      'readiness',
      { periodSeconds: 1, failureThreshold: 2, successThreshold: 1 },
      (run) => answers[run - 1] ?? 'success',
    );
    await clock.advance(4500);
    expect(seen.results).toEqual(['success@0', 'failure@2000', 'success@3000']);
    worker.stop();
  });

  it('ends a startup probe with its first verdict', async () => {
    const { clock, seen } = start('startup', { periodSeconds: 1, failureThreshold: 2 }, () => 'failure');
    await clock.advance(10_000);
    expect(seen.results).toHaveLength(1);
    expect(seen.results[0]).toMatch(/^failure@/);
    expect(clock.timers).toBe(0);
  });

  it('does not count a probe that could not be carried out', async () => {
    const { clock, seen, worker } = start(
      'liveness',
      { periodSeconds: 1, failureThreshold: 1 },
      () => 'unknown',
    );
    await clock.advance(3500);
    expect(seen.results).toEqual([]);
    expect(seen.failures).toBe(4);
    worker.stop();
  });
});
