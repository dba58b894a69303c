import { VirtualClock } from '@tinkernetes/component-base/testing';
import type { ComponentSpec } from '../cluster/component-specs';
import { restartDelay, Supervisor } from './supervisor';
import type { ComponentExit, Launcher, ReadyInfo, RunningComponent } from './types';

const spec: ComponentSpec = { app: 'scheduler', instance: 'scheduler', argv: [] };

/** A component whose life the test directs. */
class Directed implements RunningComponent {
  readonly pid = 1;
  readonly ready: Promise<ReadyInfo>;
  readonly exited: Promise<ComponentExit>;
  serve: (info?: ReadyInfo) => void = () => undefined;
  end: (exit: ComponentExit) => void = () => undefined;

  constructor() {
    this.exited = new Promise((resolve) => (this.end = resolve));
    this.ready = new Promise((resolve, reject) => {
      this.serve = (info = {}) => resolve(info);
      void this.exited.then((exit) => reject(new Error(exit.reason)));
    });
    this.ready.catch(() => undefined);
  }

  async stop(): Promise<void> {
    this.end({ reason: 'stopped', exitCode: 0 });
    await this.exited;
  }
}

function setUp(onRefused: (reason: string) => void = () => undefined) {
  const started: Directed[] = [];
  const launcher: Launcher = {
    start: () => {
      const component = new Directed();
      started.push(component);
      return component;
    },
  };
  const clock = new VirtualClock();
  const lines: string[] = [];
  const supervisor = new Supervisor({
    launcher,
    clock,
    report: (line) => lines.push(line),
    onRefused: (_, { reason }) => onRefused(reason),
  });
  return { supervisor, started, clock, lines };
}

it.each([
  [1, 200],
  [2, 400],
  [5, 3200],
  [7, 10_000],
  [50, 10_000],
])('waits after %i failures %i ms', (failures, ms) => {
  expect(restartDelay(failures)).toBe(ms);
});

it('starts a component again that died, after its back-off, and says so', async () => {
  const { supervisor, started, clock, lines } = setUp();
  const ready = supervisor.start(spec);
  started[0]?.serve();
  await ready;
  started[0]?.end({ reason: 'was killed by SIGKILL', exitCode: undefined });
  await clock.advance(199);
  expect(started).toHaveLength(1);
  await clock.advance(1);
  expect(started).toHaveLength(2);
  expect(lines).toEqual(['scheduler was killed by SIGKILL; restarting in 0.2 s']);
  await supervisor.stop();
  expect(clock.timers).toBe(0);
});

it('doubles the back-off while failures follow each other, and forgets them after a long run', async () => {
  const { supervisor, started, clock, lines } = setUp();
  void supervisor.start(spec);
  started[0]?.end({ reason: 'exited with code 1', exitCode: 1 });
  await clock.advance(200);
  started[1]?.end({ reason: 'exited with code 1', exitCode: 1 });
  await clock.advance(400);
  expect(started).toHaveLength(3);
  started[2]?.serve();
  await clock.advance(30_000);
  started[2]?.end({ reason: 'exited with code 1', exitCode: 1 });
  await clock.advance(200);
  expect(started).toHaveLength(4);
  expect(lines.map((line) => /in (.*) s/.exec(line)?.[1])).toEqual(['0.2', '0.4', '0.2']);
  await supervisor.stop();
});

it('gives up a required component that never served', async () => {
  const { supervisor, started, clock } = setUp();
  const ready = supervisor.start(spec, { required: true });
  started[0]?.end({ reason: 'exited with code 2: port in use', exitCode: 2 });
  await expect(ready).rejects.toThrow('port in use');
  await clock.advance(60_000);
  expect(started).toHaveLength(1);
});

it('tells when a component can not be started as it was asked for, not when one that served ends so', async () => {
  const refused: string[] = [];
  const { supervisor, started, clock } = setUp((reason) => refused.push(reason));
  void supervisor.start(spec);
  started[0]?.end({ reason: 'exited with code 1', exitCode: 1 });
  await clock.advance(200);
  started[1]?.end({ reason: 'exited with code 2: no such file', exitCode: 2 });
  await clock.advance(400);
  expect(refused).toEqual(['exited with code 2: no such file']);
  started[2]?.serve();
  await clock.advance(0);
  started[2]?.end({ reason: 'exited with code 2', exitCode: 2 });
  await clock.advance(10_000);
  expect(refused).toHaveLength(1);
  await supervisor.stop();
});

it('restarts nothing once stopped, even while it waits for a back-off', async () => {
  const { supervisor, started, clock } = setUp();
  void supervisor.start(spec);
  started[0]?.end({ reason: 'exited with code 1', exitCode: 1 });
  await clock.advance(100);
  await supervisor.stop();
  await clock.advance(60_000);
  expect(started).toHaveLength(1);
  expect(supervisor.status()).toMatchObject([{ instance: 'scheduler', state: 'stopped' }]);
});

it('tells what a component said when it was ready, and forgets it when the component dies', async () => {
  const { supervisor, started, clock } = setUp();
  const ready = supervisor.start(spec);
  started[0]?.serve({ debugPort: 1234 });
  await ready;
  expect(supervisor.status()).toMatchObject([{ state: 'running', info: { debugPort: 1234 } }]);
  started[0]?.end({ reason: 'was killed by SIGKILL', exitCode: undefined });
  await clock.advance(0);
  expect(supervisor.status()[0]?.info).toBeUndefined();
  await supervisor.stop();
});

it('tries again, after the back-off, what could not even be started', async () => {
  const clock = new VirtualClock();
  const lines: string[] = [];
  const component = new Directed();
  let attempts = 0;
  const launcher: Launcher = {
    start: () => {
      if (++attempts === 1) throw new Error('spawn EAGAIN');
      return component;
    },
  };
  const supervisor = new Supervisor({ launcher, clock, report: (line) => lines.push(line) });
  const ready = supervisor.start(spec);
  await clock.advance(200);
  component.serve({ port: 1 });
  expect(await ready).toEqual({ port: 1 });
  expect(lines).toEqual(['scheduler could not be started: spawn EAGAIN; restarting in 0.2 s']);
  await supervisor.stop();
});

it('says at once that a required component could not be started', async () => {
  const launcher: Launcher = {
    start: () => {
      throw new Error('spawn EAGAIN');
    },
  };
  const supervisor = new Supervisor({ launcher, clock: new VirtualClock(), report: () => undefined });
  await expect(supervisor.start(spec, { required: true })).rejects.toThrow('spawn EAGAIN');
});
