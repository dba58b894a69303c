import { PendingFrames } from './pending-frames';

const frame = (size: number, fill = 1) => Buffer.alloc(size, fill);

describe('PendingFrames', () => {
  it('writes what waits at once, in its order', () => {
    const pending = new PendingFrames();
    pending.push(frame(2, 1));
    pending.push(frame(1, 2));
    expect(pending.bytes).toBe(3);
    const { framed, content } = pending.take();
    expect([...content]).toEqual([1, 1, 2]);
    expect(framed.toString('latin1')).toBe('3\r\n\x01\x01\x02\r\n');
    expect(pending.isEmpty).toBe(true);
    expect(pending.bytes).toBe(0);
  });

  it('writes no more at once than 64 KiB, but one frame however large it is', () => {
    const pending = new PendingFrames();
    for (const size of [40_000, 20_000, 20_000, 200_000, 1]) pending.push(frame(size));
    const sizes: number[] = [];
    while (!pending.isEmpty) sizes.push(pending.take().content.length);
    expect(sizes).toEqual([60_000, 20_000, 200_000, 1]);
  });

  it('says in hexadecimal how long a chunk is', () => {
    const pending = new PendingFrames();
    pending.push(frame(0x1234));
    expect(pending.take().framed.toString('latin1', 0, 6)).toBe('1234\r\n');
  });

  it('shares the joined bytes among watchers that write the same', () => {
    const [a, b, c] = [frame(1), frame(2), frame(3)];
    const [first, second, third] = [new PendingFrames(), new PendingFrames(), new PendingFrames()];
    for (const pending of [first, second]) for (const part of [a, b]) pending.push(part);
    for (const part of [a, c]) third.push(part);
    const joined = first.take();
    expect(second.take()).toBe(joined);
    expect(third.take().content.length).toBe(4);
  });
});
