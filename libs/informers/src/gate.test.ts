import { createGate } from './gate';

it('lets no more in than its limit, in order, and goes on after a failure', async () => {
  const gate = createGate(2);
  const order: string[] = [];
  let running = 0;
  let most = 0;
  const work = (name: string, fails = false) =>
    gate(async () => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setImmediate(resolve));
      running--;
      order.push(name);
      if (fails) throw new Error(name);
    });
  const results = await Promise.allSettled([work('a'), work('b', true), work('c'), work('d'), work('e')]);
  expect(most).toBe(2);
  expect(order).toEqual(['a', 'b', 'c', 'd', 'e']);
  expect(results.map((r) => r.status)).toEqual([
    'fulfilled',
    'rejected',
    'fulfilled',
    'fulfilled',
    'fulfilled',
  ]);
});
