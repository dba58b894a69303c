import { loadOnce } from './load-once';

it('loads once, however many ask, but again after a failure', async () => {
  const results = [() => Promise.reject(new Error('unreadable')), () => Promise.resolve('key')];
  const load = jest.fn(() => (results.shift() ?? (() => Promise.resolve('another')))());
  const key = loadOnce(load);
  await expect(key()).rejects.toThrow('unreadable');
  expect(await Promise.all([key(), key()])).toEqual(['key', 'key']);
  expect(await key()).toBe('key');
  expect(load).toHaveBeenCalledTimes(2);
});
