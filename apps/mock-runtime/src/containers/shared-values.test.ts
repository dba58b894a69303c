import { SharedValues } from './shared-values';

describe('SharedValues', () => {
  const message = (): {
    name: string;
    envs: { key: string; value: Buffer }[];
    labels: Record<string, string>;
  } => ({
    name: ['pa', 'use'].join(''),
    envs: [{ key: 'A', value: Buffer.from('10.96.0.1') }],
    labels: { app: ['we', 'b'].join('') },
  });

  it('leaves a message as it was', () => {
    expect(new SharedValues().share(message())).toEqual(message());
  });

  it('gives two messages the same bytes, and none of the message that they came in', () => {
    const values = new SharedValues();
    const [a, b] = [values.share(message()), values.share(message())];
    expect(a.envs[0]?.value).toBe(b.envs[0]?.value);
    expect(a.envs[0]?.value.buffer.byteLength).toBe(9);
  });

  it('gives two messages the same parts, also where the others differ', () => {
    const values = new SharedValues();
    const [a, b] = [values.share({ ...message(), name: 'a' }), values.share({ ...message(), name: 'b' })];
    expect(a.envs).toBe(b.envs);
    expect(a.labels).toBe(b.labels);
    expect([a.name, b.name]).toEqual(['a', 'b']);
    const other = values.share({ ...message(), labels: { app: 'db' } });
    expect(other.labels).toEqual({ app: 'db' });
  });

  it('shares no part that could be changed', () => {
    const { labels } = new SharedValues().share(message());
    expect(() => (labels.app = 'db')).toThrow(TypeError);
  });

  it('copies long bytes without keeping them', () => {
    const values = new SharedValues();
    const long = Buffer.alloc(1000, 'x');
    const copies = [values.share({ value: long.subarray() }), values.share({ value: long.subarray() })];
    expect(copies[0]?.value).toEqual(long);
    expect(copies[0]?.value).not.toBe(copies[1]?.value);
  });
});
