export { VirtualClock } from './virtual-clock';
export { SeededRandom } from './seeded-random';
export { silentLogger } from './silent-logger';
export { eventually } from './eventually';
export { findProgram } from './find-program';
export { freePort } from './free-port';
export { RedisServer } from './redis-server';
export { startComponent, type StartedComponent } from './start-component';
