import { ByteSink } from './byte-sink';

describe('ByteSink', () => {
  it.each([1, 4, 100])('puts bytes one after the other, with room for %i at first', (capacity) => {
    const sink = new ByteSink(capacity);
    sink.add(Buffer.from('abc'));
    sink.add(new Uint8Array(Buffer.from('0123456789')), 3, 6);
    sink.addAscii('xyz');
    sink.add(Buffer.from('0123'), 3);
    expect(sink.length).toBe(10);
    expect(sink.take().toString()).toBe('abc345xyz3');
  });

  it('leaves what was taken as it is', () => {
    const sink = new ByteSink(8);
    sink.addAscii('one');
    const first = sink.take();
    expect(sink.length).toBe(0);
    sink.addAscii('two');
    expect([first.toString(), sink.take().toString()]).toEqual(['one', 'two']);
  });
});
