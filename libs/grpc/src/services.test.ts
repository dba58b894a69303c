import { grpcServices } from './services';

const field = (type: string, id: number, rule?: string) => ({ type, id, ...(rule ? { rule } : {}) });
const descriptor = {
  nested: {
    demo: {
      nested: {
        v1: {
          nested: {
            Color: { values: { RED: 0, BLUE: 1 } },
            Item: {
              fields: {
                name: field('string', 1),
                color: field('Color', 2),
                size: field('int64', 3),
                data: field('bytes', 4),
                tags: field('string', 5, 'repeated'),
              },
            },
            Frame: {
              oneofs: { content: { oneof: ['text', 'end'] } },
              fields: { text: field('string', 1), end: field('bool', 2) },
            },
            Shop: {
              methods: {
                GetItem: { requestType: 'Item', responseType: 'Item' },
                Talk: {
                  requestType: 'Frame',
                  responseType: 'Frame',
                  requestStream: true,
                  responseStream: true,
                },
              },
            },
          },
        },
      },
    },
  },
};

describe('grpcServices', () => {
  const shop = grpcServices(descriptor, ['demo.v1.Frame'])('demo.v1.Shop');

  it('has a definition for each method', () => {
    expect(Object.keys(shop)).toEqual(['getItem', 'talk']);
    expect(shop.getItem).toMatchObject({ path: '/demo.v1.Shop/GetItem', requestStream: false });
    expect(shop.talk).toMatchObject({ requestStream: true, responseStream: true });
  });

  it('gives every field, enums by name and numbers as numbers', () => {
    const item = { name: 'n', color: 'BLUE', size: 2 ** 40, data: Buffer.from('x'), tags: ['a'] };
    const there = (value: object) =>
      shop.getItem?.requestDeserialize(shop.getItem.requestSerialize(value)) as typeof item;
    expect(there(item)).toEqual(item);
    expect(there({})).toEqual({ name: '', color: 'RED', size: 0, data: Buffer.alloc(0), tags: [] });
  });

  it('leaves absent members of a oneof out', () => {
    const there = (value: object) => shop.talk?.requestDeserialize(shop.talk.requestSerialize(value));
    expect(there({ end: true })).toMatchObject({ end: true });
    expect(there({ end: true })).not.toHaveProperty('text');
  });

  it('says when there is no such service', () => {
    expect(() => grpcServices(descriptor)('demo.v1.Store')).toThrow('no service demo.v1.Store');
  });
});
