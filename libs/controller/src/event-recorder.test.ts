import type { Event, Pod } from '@tinkernetes/api';
import { silentLogger, VirtualClock } from '@tinkernetes/component-base/testing';
import { createEventRecorder } from './event-recorder';
import { TestClient } from './test-client';
import type { EventRecorder } from './types';

const pod = (name: string): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default', uid: `uid-${name}`, resourceVersion: '7' },
  spec: { containers: [] },
});

describe('createEventRecorder', () => {
  let server: TestClient;
  let clock: VirtualClock;
  let recorder: EventRecorder;
  let stop: AbortController;
  beforeEach(() => {
    server = new TestClient();
    clock = new VirtualClock(Date.UTC(2026, 0, 1));
    stop = new AbortController();
    recorder = createEventRecorder({
      client: server.client,
      component: 'kubelet',
      host: 'node-1',
      clock,
      logger: silentLogger,
      signal: stop.signal,
    });
  });
  const events = () => [...server.objects.values()] as Event[];

  it('writes an event as upstream does', async () => {
    recorder.event(pod('a'), 'Normal', 'Pulled', 'image there', { fieldPath: 'spec.containers{c}' });
    await recorder.flush();
    expect(events()).toEqual([
      {
        apiVersion: 'v1',
        kind: 'Event',
        metadata: {
          name: expect.stringMatching(/^a\.[0-9a-f]{16}$/),
          namespace: 'default',
          resourceVersion: '1',
        },
        involvedObject: {
          apiVersion: 'v1',
          kind: 'Pod',
          namespace: 'default',
          name: 'a',
          uid: 'uid-a',
          resourceVersion: '7',
          fieldPath: 'spec.containers{c}',
        },
        reason: 'Pulled',
        message: 'image there',
        source: { component: 'kubelet', host: 'node-1' },
        reportingComponent: 'kubelet',
        reportingInstance: 'node-1',
        firstTimestamp: '2026-01-01T00:00:00Z',
        lastTimestamp: '2026-01-01T00:00:00Z',
        count: 1,
        type: 'Normal',
      },
    ]);
  });

  it('counts equal events up in one object', async () => {
    recorder.event(pod('a'), 'Warning', 'BackOff', 'again');
    await recorder.flush();
    await clock.advance(5000);
    recorder.event(pod('a'), 'Warning', 'BackOff', 'again');
    recorder.event(pod('b'), 'Warning', 'BackOff', 'again');
    await recorder.flush();
    expect(events()).toMatchObject([
      { count: 2, firstTimestamp: '2026-01-01T00:00:00Z', lastTimestamp: '2026-01-01T00:00:05Z' },
      { count: 1, involvedObject: { name: 'b' } },
    ]);
  });

  it('combines events that differ only in their message from the tenth on', async () => {
    for (let i = 1; i <= 12; i++) recorder.event(pod('a'), 'Warning', 'Failed', `try ${i}`);
    await recorder.flush();
    expect(events()).toHaveLength(10);
    expect(events().at(-1)).toMatchObject({ message: '(combined from similar events): try 12', count: 3 });
  });

  it('lets a flood about one object through 25 times, then once in five minutes', async () => {
    for (let i = 0; i < 40; i++) recorder.event(pod('a'), 'Normal', `Reason${i}`, 'x');
    await recorder.flush();
    expect(events()).toHaveLength(25);
    await clock.advance(300_000);
    for (let i = 40; i < 45; i++) recorder.event(pod('a'), 'Normal', `Reason${i}`, 'x');
    recorder.event(pod('b'), 'Normal', 'Other', 'x');
    await recorder.flush();
    expect(events()).toHaveLength(27);
  });

  it('writes an event anew that the server has forgotten', async () => {
    recorder.event(pod('a'), 'Normal', 'Pulled', 'x');
    await recorder.flush();
    server.objects.clear();
    recorder.event(pod('a'), 'Normal', 'Pulled', 'x');
    await recorder.flush();
    expect(events()).toMatchObject([{ count: 2 }]);
  });

  it('sends no faster than it may', async () => {
    const limited = createEventRecorder({
      client: server.client,
      component: 'kubelet',
      clock,
      logger: silentLogger,
      signal: stop.signal,
      rate: { qps: 2, burst: 3 },
    });
    for (let i = 0; i < 6; i++) limited.event(pod(`p${i}`), 'Normal', 'Pulled', 'x');
    await clock.advance(0);
    expect(events()).toHaveLength(3);
    await clock.advance(1000);
    expect(events()).toHaveLength(5);
    await clock.advance(500);
    await limited.flush();
    expect(events()).toHaveLength(6);
  });

  it('tries again while the server is away, and gives up when it is stopped', async () => {
    server.failure = new Error('connection refused');
    recorder.event(pod('a'), 'Normal', 'Pulled', 'x');
    await clock.advance(10_000);
    server.failure = undefined;
    await clock.advance(10_000);
    expect(events()).toHaveLength(1);
    server.failure = new Error('connection refused');
    recorder.event(pod('a'), 'Normal', 'Started', 'x');
    await clock.advance(0);
    stop.abort(new Error('stopped'));
    await recorder.flush();
    expect(clock.timers).toBe(0);
  });
});
