import { VirtualClock } from '@tinkernetes/component-base/testing';
import { Compactor } from './compactor';

const keepMs = 300_000;

/** A compactor whose storage is at revision 10, and then at 20. */
async function afterTicks(
  ticks: number,
  driver: { state(): Promise<{ revision: number; compactRevision: number }>; compact(): Promise<void> },
) {
  const clock = new VirtualClock();
  const compactor = new Compactor(clock, keepMs, driver);
  compactor.start(10);
  compactor.observe(20);
  for (let i = 0; i < ticks; i++) await clock.advance(keepMs);
  compactor.stop();
}

describe('Compactor', () => {
  it('keeps what has happened since the tick before', async () => {
    const compact = jest.fn(() => Promise.resolve());
    await afterTicks(2, { state: () => Promise.resolve({ revision: 20, compactRevision: 0 }), compact });
    expect(compact.mock.calls).toEqual([[10], [20]]);
  });

  it('leaves what somebody else has compacted', async () => {
    const compact = jest.fn(() => Promise.resolve());
    await afterTicks(2, { state: () => Promise.resolve({ revision: 20, compactRevision: 15 }), compact });
    expect(compact.mock.calls).toEqual([[20]]);
  });

  it('outlives a storage that does not answer, and tries again', async () => {
    const compact = jest.fn(() => Promise.resolve());
    const state = jest
      .fn(() => Promise.resolve({ revision: 20, compactRevision: 0 }))
      .mockRejectedValueOnce(new Error('away'));
    await afterTicks(2, { state, compact });
    expect(compact.mock.calls).toEqual([[20]]);
  });
});
