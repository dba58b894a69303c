export { workQueueContract, type WorkQueueContractOptions } from './contract';
export { redisMissing, startRedis, type TestRedis } from './redis-server';
