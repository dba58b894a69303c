import { WrittenTraces } from './written-traces';

const value = Buffer.from('new');

describe('traces of writes', () => {
  it('are known by key and revision once a write is answered', async () => {
    const traces = new WrittenTraces();
    await traces.during('/a', { value, trace: 't' }, () => Promise.resolve());
    traces.remember('/a', 7, 't');
    expect([traces.of('/a', 7), traces.of('/a', 8), traces.of('/b', 7)]).toEqual(['t', undefined, undefined]);
    expect(traces.ofEvent('/a', { revision: 7, value })).toBe('t');
  });

  it('are known to an event that comes before the answer, by what was written', async () => {
    const traces = new WrittenTraces();
    await traces.during('/a', { value, trace: 't' }, async () => {
      expect(traces.ofEvent('/a', { revision: 7, value })).toBe('t');
      expect(traces.ofEvent('/a', { revision: 7, value: Buffer.from('of somebody else') })).toBeUndefined();
      expect(traces.ofEvent('/b', { revision: 7, value })).toBeUndefined();
    });
    expect(traces.ofEvent('/a', { revision: 7, value })).toBeUndefined();
  });

  it('are forgotten when a write fails, and the oldest when there are many', async () => {
    const traces = new WrittenTraces();
    const failed = traces.during('/a', { value, trace: 't' }, () => Promise.reject(new Error('no leader')));
    await expect(failed).rejects.toThrow('no leader');
    expect(traces.ofEvent('/a', { revision: 7, value })).toBeUndefined();
    for (let revision = 1; revision <= 10_001; revision++) traces.remember('/a', revision, 't');
    expect([traces.of('/a', 1), traces.of('/a', 2)]).toEqual([undefined, 't']);
  });
});
