import { Root, type INamespace, type Type } from 'protobufjs/light';
import type { Namespace } from './descriptor';
import { decode, encode } from './message-codec';
import { messageTypes } from './message-type';

const field = (type: string, id: number, more: object = {}) => ({ type, id, ...more });
const list = { rule: 'repeated' };
const descriptor: Namespace = {
  nested: {
    demo: {
      nested: {
        Everything: {
          fields: {
            text: field('string', 1),
            data: field('bytes', 2),
            flag: field('bool', 3),
            small: field('int32', 4),
            count: field('uint32', 5),
            time: field('int64', 6),
            size: field('uint64', 7),
            share: field('double', 8),
            color: field('Color', 9),
            part: field('Part', 10),
            texts: field('string', 11, list),
            times: field('int64', 12, list),
            colors: field('Color', 13, list),
            parts: field('Everything.Part', 300, list),
            labels: field('string', 15, { keyType: 'string' }),
            either: field('uint32', 16),
            or: field('Part', 17),
          },
          oneofs: { choice: { oneof: ['either', 'or'] } },
          nested: { Part: { fields: { name: field('string', 1), color: field('.demo.Color', 2) } } },
        },
        Color: { values: { RED: 0, BLUE: 1, BEYOND: -1 } },
        Nothing: { fields: {} },
      },
    },
  },
};
const typeOf = messageTypes(descriptor);
const type = typeOf('demo.Everything');
const oracle: Type = Root.fromJSON(descriptor as INamespace).lookupType('demo.Everything');

const encodeByOracle = (value: object) => Buffer.from(oracle.encode(oracle.fromObject(value)).finish());
const decodeByOracle = (bytes: Buffer) =>
  oracle.toObject(oracle.decode(bytes), { defaults: true, enums: String, longs: Number });

const full = {
  text: 'hello',
  data: Buffer.from('bytes'),
  flag: true,
  small: -5,
  count: 4294967295,
  time: 1_764_000_000_000_000_000,
  size: 2 ** 40,
  share: 0.25,
  color: 'BLUE',
  part: { name: 'n', color: 'BEYOND' },
  texts: ['', 'b'],
  times: [0, -1, 2 ** 35],
  colors: ['RED', 'BLUE'],
  parts: [
    { name: 'one', color: 'RED' },
    { name: '', color: 'BLUE' },
  ],
  labels: { app: 'web', '': 'empty' },
  either: 0,
};

describe('messages', () => {
  it.each<[string, object]>([
    ['every kind of field', full],
    ['nothing', {}],
    ['fields that are absent', { text: undefined, part: null, texts: undefined, labels: null }],
    ['defaults', { text: '', flag: false, small: 0, color: 'RED', data: Buffer.alloc(0), part: {} }],
    ['a oneof with a message', { or: { name: 'x' } }],
    ['numbers for enums, also unknown ones', { color: 1, colors: [7, 0] }],
    ['a name that the enum does not have', { color: 'PINK' }],
    [
      'characters of all lengths',
      { text: 'aé日😀', texts: ['ü'.repeat(24), 'é'.repeat(25), 'x'.repeat(70)] },
    ],
    ['more than the buffer holds', { text: 'x'.repeat(100_000), parts: [{ name: 'y'.repeat(5000) }] }],
    ['bytes as base64', { data: 'aGk=' }],
  ])('are written and read as protobufjs does: %s', (_, value) => {
    const expected = decodeByOracle(encodeByOracle(value));
    expect(decodeByOracle(encode(type, value))).toEqual(expected);
    expect(decode(type, encodeByOracle(value))).toEqual(expected);
    expect(decode(type, encode(type, value))).toEqual(expected);
  });

  const edges = [7, 8, 14, 21, 28, 31, 32, 35, 42, 49, 52].flatMap((bits) => [2 ** bits - 1, 2 ** bits]);
  it.each([...edges, ...edges.map((n) => -n)])('keep the number %d', (n) => {
    expect(encode(type, { time: n }).equals(encodeByOracle({ time: n }))).toBe(true);
    expect(decode(type, encode(type, { time: n }))).toMatchObject({ time: n });
  });

  it('leave defaults out, but where their presence says something', () => {
    expect(encode(type, { text: '', count: 0, color: 'RED' }).length).toBe(0);
    expect(decode(type, encode(type, { either: 0 }))).toHaveProperty('either', 0);
  });

  it('have only what was sent when they are sparse, and the name of the member of a oneof', () => {
    const read = (value: object) => decode(type, encode(type, value), { sparse: true });
    expect(read({})).toEqual({});
    expect(read({ or: { name: 'x' }, texts: ['a'] })).toEqual({
      choice: 'or',
      or: { name: 'x' },
      texts: ['a'],
    });
  });

  it('have the last member of a oneof that was sent', () => {
    const both = Buffer.concat([encode(type, { or: { name: 'x' } }), encode(type, { either: 3 })]);
    const read = decode(type, both);
    expect(read).toMatchObject({ either: 3 });
    expect(read).not.toHaveProperty('or');
  });

  it('pass over fields that the contract does not have, and fields of another kind', () => {
    expect(decode(typeOf('demo.Nothing'), encode(type, full))).toEqual({});
    const wrong = Buffer.from([0x08, 0x05]); // field 1, a string, as a number
    expect(decode(type, wrong)).toMatchObject({ text: '' });
  });

  it('take lists of numbers also one by one', () => {
    expect(decode(type, Buffer.from([0x60, 0x01, 0x60, 0x02]))).toMatchObject({ times: [1, 2] });
  });

  it('keep no prototype that a map brings', () => {
    const { labels } = decode(
      type,
      encode(type, { labels: JSON.parse('{"__proto__":"x","a":"b"}') as object }),
    ) as {
      labels: object;
    };
    expect(Object.getPrototypeOf(labels)).toBe(Object.prototype);
    expect(labels).toEqual({ a: 'b' });
  });

  it.each<[string, number[]]>([
    ['a length beyond the end', [0x0a, 0x7f, 0x61]],
    ['a length beyond the part', [0x52, 0x02, 0x0a, 0x05, 0x61, 0x61, 0x61, 0x61, 0x61]],
    ['a number without its end', [0x28, 0x80]],
    ['a number of more than ten bytes', [0x28, ...Array.from({ length: 11 }, () => 0x80), 0x01]],
    ['a wire type that there is not', [0x0f]],
    ['field number 0', [0x00, 0x00]],
  ])('are refused with %s', (_, bytes) => {
    expect(() => decode(type, Buffer.from(bytes))).toThrow(RangeError);
  });

  it('that cannot be written leave nothing behind in the next', () => {
    expect(() => encode(type, { labels: { a: 'b' }, parts: 'no list' })).toThrow('array expected');
    expect(() => encode(type, { labels: { a: 'b' }, part: 'no object' })).toThrow('object expected');
    expect(decode(type, encode(type, { text: 'next' }))).toMatchObject({ text: 'next', labels: {} });
  });

  it('that the descriptor does not have are told by name', () => {
    expect(() => typeOf('demo.Missing')).toThrow('no message demo.Missing');
  });
});
