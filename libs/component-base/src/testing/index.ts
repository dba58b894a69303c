export { VirtualClock } from './virtual-clock';
export { SeededRandom } from './seeded-random';
export { silentLogger } from './silent-logger';
export { eventually } from './eventually';
export { startComponent, type StartedComponent } from './start-component';
