import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { VirtualClock } from '@tinkernetes/component-base/testing';
import type { StepOptions, StepTracer } from '@tinkernetes/component-base';
import { KubectlSessions } from './kubectl-sessions';
import { RequestSteps } from './request-steps';

type Recorded = StepOptions & { startMs: number; endMs?: number };

const request = (session: string | undefined, headers: Record<string, string> = {}) =>
  ({
    headers: { ...(session && { 'kubectl-session': session, 'kubectl-command': 'kubectl run' }), ...headers },
  }) as unknown as IncomingMessage;
const response = () => new EventEmitter() as unknown as ServerResponse;

function setUp() {
  const clock = new VirtualClock(1000);
  const recorded = new Map<string, Recorded>();
  const tracer = { record: (id: string, step: Recorded) => recorded.set(id, step) } as unknown as StepTracer;
  return {
    clock,
    recorded,
    sessions: new KubectlSessions(clock),
    steps: new RequestSteps('00-1-1-01', clock, tracer),
  };
}

it('tells the client steps of a command from its discovery requests and from the object it sends', async () => {
  const { clock, recorded, sessions, steps } = setUp();
  for (const path of ['/api', '/apis', '/openapi/v3']) {
    const answer = response();
    sessions.observe(request('s1'), answer, path);
    await clock.advance(10);
    answer.emit('close');
  }
  await clock.advance(5);
  const create = request('s1', { 'content-type': 'application/json', authorization: 'Bearer secret' });
  sessions.observe(create, response(), '/api/v1/namespaces/default/pods');
  sessions.addSteps(steps, create, clock.now());
  await clock.advance(7);
  steps.finish(undefined);

  const times = Object.fromEntries([...recorded].map(([id, { startMs, endMs }]) => [id, [startMs, endMs]]));
  expect(times).toEqual({
    'kubectl.command': [1000, 1000],
    'kubectl.negotiate': [1000, 1030],
    'kubectl.validate': [1030, 1035],
    'kubectl.generate': [1030, 1035],
    'kubectl.encode': [1030, 1035],
    'kubectl.authenticate': [1035, 1035],
    'kubectl.send': [1035, 1042],
  });
  expect([...recorded.values()].every(({ attributes }) => attributes?.inferred === true)).toBe(true);
  expect(recorded.get('kubectl.command')?.attributes?.command).toBe('kubectl run');
  expect(recorded.get('kubectl.authenticate')?.attributes?.credential).toBe('bearer');
  expect(JSON.stringify([...recorded])).not.toContain('secret');
});

it('says that discovery came from the cache when the command asked nothing first', () => {
  const { clock, recorded, sessions, steps } = setUp();
  const create = request('s2');
  sessions.observe(create, response(), '/api/v1/namespaces/default/pods');
  sessions.addSteps(steps, create, clock.now());
  steps.finish(undefined);
  expect(recorded.get('kubectl.negotiate')?.attributes?.cached).toBe(true);
});

it('infers nothing for other clients, and forgets the oldest of many commands', () => {
  const { clock, recorded, sessions, steps } = setUp();
  const other = request(undefined);
  sessions.observe(other, response(), '/api/v1/namespaces/default/pods');
  sessions.addSteps(steps, other, clock.now());
  for (let i = 0; i <= 200; i++) sessions.observe(request(`many-${i}`), response(), '/api');
  sessions.addSteps(steps, request('many-0'), clock.now());
  steps.finish(undefined);
  expect(recorded.size).toBe(0);
});
