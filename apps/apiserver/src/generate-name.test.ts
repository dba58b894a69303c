import { ConfigMaps, Namespaces } from '@tinkernetes/api';
import { createClient, type Client } from '@tinkernetes/client';
import { realRandom, type Random } from '@tinkernetes/component-base';
import { startApiServer, type TestApiServer } from '@tinkernetes/testing';

/** `npm run test:long` has 20,000. Fewer names draw from a smaller space, so that as many meet. */
const creates = Number(process.env.GENERATED_NAMES ?? '1000');
const letters = creates >= 20_000 ? 27 : 6;
const atOnce = 20;

/** Mulberry32: uniform in [0, 1), the same for the same seed. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

describe('C10: generateName', () => {
  let server: TestApiServer;
  let client: Client;
  let next: () => number = realRandom.next;
  let draws = 0;
  const random: Random = {
    ...realRandom,
    next: () => {
      draws++;
      return next();
    },
  };
  beforeAll(async () => {
    server = await startApiServer({
      context: { random },
      flags: ['--enable-priority-and-fairness=false'],
    });
    client = createClient(server.adminConfig);
    await client.for(Namespaces).create({ metadata: { name: 'c10' }, spec: {} });
  });
  afterAll(async () => {
    client.close();
    await server.stop();
  });

  const create = (generateName: string) =>
    client.for(ConfigMaps).create({ metadata: { generateName } }, { namespace: 'c10' });

  it(`C10: gives each of ${creates} objects a name of its own, though names are drawn twice`, async () => {
    const uniform = seeded(10);
    next = () => (Math.floor(uniform() * letters) + 0.5) / 27;
    draws = 0;
    const names = new Set<string>();
    let left = creates;
    const worker = async () => {
      while (left-- > 0) names.add((await create('burst-')).metadata.name);
    };
    await Promise.all(Array.from({ length: atOnce }, worker));
    expect(names.size).toBe(creates);
    for (const name of names) expect(name).toMatch(/^burst-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
    // Five for each name, and five more for each that was there already.
    expect(draws).toBeGreaterThanOrEqual(5 * (creates + 1));
  }, 300_000);

  it('C10: gives up after eight names that are all there already', async () => {
    next = () => 0;
    expect((await create('same-')).metadata.name).toBe('same-bbbbb');
    draws = 0;
    await expect(create('same-')).rejects.toMatchObject({
      code: 409,
      reason: 'AlreadyExists',
      message:
        'configmaps "same-bbbbb" already exists, the server was not able to generate a unique name for the object',
    });
    expect(draws).toBe(8 * 5);
  });

  it('C10: takes the first name that is free', async () => {
    const values = [...Array<number>(3 * 5).fill(0), ...Array<number>(5).fill(26.5 / 27)];
    next = () => values.shift() ?? 0;
    await client.for(ConfigMaps).create({ metadata: { name: 'free-bbbbb' } }, { namespace: 'c10' });
    expect((await create('free-')).metadata.name).toBe('free-99999');
  });
});
