import { findProgram, RedisServer, silentLogger } from '@tinkernetes/component-base/testing';
import { storageContract } from '../testing';
import { openRedisStorage } from './open-redis-storage';

const program = findProgram('redis-server');

if (program === undefined) {
  it.skip('redis storage (skipped: redis-server is not installed; apt-get install redis-server)', () =>
    undefined);
} else {
  describe('redis storage', () => {
    let server: RedisServer;
    let stores = 0;
    beforeAll(async () => {
      server = await RedisServer.start(program);
    });
    afterAll(() => server.remove());

    storageContract({
      create: ({ clock }) =>
        openRedisStorage(`${server.url}/?prefix=store-${stores++}`, {
          clock,
          keepHistoryMs: 0,
          logger: silentLogger,
        }),
      modelRuns: 15,
    });
  });
}
