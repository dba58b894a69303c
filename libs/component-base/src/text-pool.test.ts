import { textPool } from './text-pool';

describe('textPool', () => {
  it.each([['docker.io/library/busybox:1.36'], [''], ['x'.repeat(1000)]])(
    'gives an equal text for %j',
    (text) => {
      const common = textPool(2);
      for (const other of [text, 'a', 'b', 'c']) expect(common(other)).toBe(other);
      expect(common(Buffer.from(text).toString())).toBe(text);
    },
  );
});
