import { VirtualClock } from '@tinkernetes/component-base/testing';
import { StartGate } from './start-gate';

describe('StartGate', () => {
  /** Starts so many; each ends when the test says so. */
  const start = (gate: StartGate, count: number) => {
    const begun: number[] = [];
    const end: Array<() => void> = [];
    const all = Array.from({ length: count }, (_, i) =>
      gate.pass(() => {
        begun.push(i);
        return new Promise<void>((resolve) => (end[i] = resolve));
      }),
    );
    return { begun, end: (i: number) => end[i]?.(), all };
  };

  it('lets a few begin, the next as soon as one has ended, in their order', async () => {
    const clock = new VirtualClock();
    const { begun, end } = start(new StartGate(clock), 34);
    await clock.advance(0);
    expect(begun).toHaveLength(32);
    end(5);
    await clock.advance(0);
    expect(begun.slice(32)).toEqual([32]);
    end(6);
    await clock.advance(0);
    expect(begun.slice(32)).toEqual([32, 33]);
  });

  it('waits no longer than a moment for those that take their time', async () => {
    const clock = new VirtualClock();
    const { begun } = start(new StartGate(clock), 40);
    await clock.advance(0);
    expect(begun).toHaveLength(32);
    await clock.advance(500);
    expect(begun).toHaveLength(40);
  });

  it('waits longer where all take their time, as on a busy machine', async () => {
    const clock = new VirtualClock();
    const gate = new StartGate(clock);
    for (let i = 0; i < 40; i++) {
      const slow = gate.pass(() => clock.sleep(400));
      await clock.advance(400);
      await slow;
    }
    const { begun } = start(gate, 40);
    await clock.advance(1000);
    expect(begun).toHaveLength(32);
    await clock.advance(600);
    expect(begun).toHaveLength(40);
  });

  it('gives the place of one that fails to the next', async () => {
    const gate = new StartGate(new VirtualClock());
    for (let i = 0; i < 40; i++)
      await expect(gate.pass(() => Promise.reject(new Error(`no ${i}`)))).rejects.toThrow(`no ${i}`);
    await expect(gate.pass(() => Promise.resolve('yes'))).resolves.toBe('yes');
  });
});
