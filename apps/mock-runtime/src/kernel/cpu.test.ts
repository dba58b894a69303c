import { Cpu } from './cpu';
import type { Process } from './process';

const process = {} as Process;

it.each([
  ['without a limit', Infinity, 2000],
  ['up to the limit', 0.5, 500],
])('counts what programs keep busy %s', (_, limit, expected) => {
  let now = 0;
  const cpu = new Cpu({ monotonic: () => now }, () => limit);
  cpu.use(process, 2);
  now = 1000;
  expect(cpu.totalMs()).toBe(expected);
  cpu.release(process);
  now = 2000;
  cpu.spend(7);
  expect(cpu.totalMs()).toBe(expected + 7);
});
