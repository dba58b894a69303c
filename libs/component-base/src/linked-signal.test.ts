import { getEventListeners } from 'node:events';
import { linkSignals, withLinkedSignal } from './linked-signal';

describe('linkSignals', () => {
  const reason = new Error('enough');

  it.each([0, 1])('aborts with the reason of source %i', (index) => {
    const sources = [new AbortController(), new AbortController()];
    const { signal } = linkSignals(...sources.map((source) => source.signal));
    sources[index]?.abort(reason);
    expect(signal.reason).toBe(reason);
  });

  it('is aborted at once where a source already is', () => {
    const { signal } = linkSignals(undefined, new AbortController().signal, AbortSignal.abort(reason));
    expect(signal.reason).toBe(reason);
  });

  it('leaves nothing with its sources once released, or once one of them aborted', () => {
    const server = new AbortController();
    const request = new AbortController();
    linkSignals(server.signal).release();
    linkSignals(server.signal, request.signal);
    request.abort(reason);
    expect(getEventListeners(server.signal, 'abort')).toHaveLength(0);
  });

  it('is not aborted after its release', () => {
    const server = new AbortController();
    const { signal, release } = linkSignals(server.signal);
    release();
    server.abort(reason);
    expect(signal.aborted).toBe(false);
  });
});

describe('withLinkedSignal', () => {
  it('lets go of its sources however the work ends', async () => {
    const { signal } = new AbortController();
    await expect(withLinkedSignal([signal], () => Promise.resolve(1))).resolves.toBe(1);
    await expect(withLinkedSignal([signal], () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });
});
