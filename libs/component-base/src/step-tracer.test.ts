import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createStepTracer } from './step-tracer';
import { SeededRandom, VirtualClock } from './testing';
import type { FinishedStep } from './tracing';

const parent = '00-0123456789abcdef0123456789abcdef-00000000000000aa-01';

describe('createStepTracer', () => {
  let clock: VirtualClock;
  beforeEach(() => {
    clock = new VirtualClock(1_000_000);
  });
  const tracerOn = (c = clock) =>
    createStepTracer({ component: 'kubelet', clock: c, random: new SeededRandom() });

  it('measures a step and hands its context on', async () => {
    const tracer = tracerOn();
    const sent: FinishedStep[] = [];
    tracer.exportTo(async (steps) => void sent.push(...steps));
    const object = { kind: 'Pod', namespace: 'default', name: 'web' };
    const result = await tracer.step(
      'kubelet.sync',
      { parent, object, node: 'node-1', attributes: { tries: 1 } },
      async (span) => {
        await clock.advance(30);
        span.set({ decided: 'start' });
        await tracer.step('kubelet.admit', { parent: span.traceParent }, () => undefined);
        return 'done';
      },
    );
    expect(result).toBe('done');
    await tracer.flush();
    const [admit, sync] = sent;
    expect(sync).toMatchObject({
      id: 'kubelet.sync',
      component: 'kubelet',
      node: 'node-1',
      object,
      traceId: '0123456789abcdef0123456789abcdef',
      parentSpanId: '00000000000000aa',
      startMs: 1_000_000,
      endMs: 1_000_030,
      attributes: { tries: 1, decided: 'start' },
    });
    expect(admit).toMatchObject({ id: 'kubelet.admit', traceId: sync?.traceId, parentSpanId: sync?.spanId });
  });

  it('records a failure and passes it on', async () => {
    const tracer = tracerOn();
    const sent: FinishedStep[] = [];
    tracer.exportTo(async (steps) => void sent.push(...steps));
    const failing = tracer.step('cni.add', { parent }, () => Promise.reject(new Error('no address')));
    await expect(failing).rejects.toThrow('no address');
    await tracer.flush();
    expect(sent).toMatchObject([{ id: 'cni.add', error: 'Error: no address' }]);
  });

  it('makes no span where nothing is traced', async () => {
    const tracer = tracerOn();
    const sent: FinishedStep[] = [];
    tracer.exportTo(async (steps) => void sent.push(...steps));
    await tracer.step('kubelet.sync', { parent: undefined }, (span) =>
      expect(span.traceParent).toBeUndefined(),
    );
    tracer.record('scheduler.queue', { parent: undefined, startMs: 1 });
    await tracer.flush();
    expect(sent).toEqual([]);
    expect(clock.timers).toBe(0);
  });

  it('keeps steps until somebody takes them, and sends them together', async () => {
    const tracer = tracerOn();
    tracer.record('scheduler.queue', { parent, startMs: 999_000 });
    expect(clock.timers).toBe(0);
    const batches: number[] = [];
    tracer.exportTo(async (steps) => void batches.push(steps.length));
    tracer.record('scheduler.bind', { parent, startMs: 1_000_000 });
    await clock.advance(199);
    expect(batches).toEqual([]);
    await clock.advance(1);
    expect(batches).toEqual([2]);
    expect(clock.timers).toBe(0);
  });

  it('keeps steps that could not be sent for the next try', async () => {
    const tracer = tracerOn();
    const batches: string[][] = [];
    let away = true;
    tracer.exportTo(async (steps) => {
      if (away) throw new Error('apiserver away');
      batches.push(steps.map((s) => s.id));
    });
    tracer.record('scheduler.queue', { parent, startMs: 1 });
    await clock.advance(300);
    tracer.record('scheduler.bind', { parent, startMs: 2 });
    away = false;
    await clock.advance(2000);
    expect(batches).toEqual([['scheduler.queue', 'scheduler.bind']]);
  });

  it('starts traces that never repeat', () => {
    const tracer = createStepTracer({ component: 'kubectl' });
    const traces = new Set(Array.from({ length: 100 }, () => tracer.startTrace()));
    expect(traces.size).toBe(100);
    for (const trace of traces) expect(trace).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
  });

  it('sends OpenTelemetry spans to a collector', async () => {
    let path: string | undefined;
    let body = '';
    const server = createServer((request, response) => {
      path = request.url;
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => response.end('{}'));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const otlpEndpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const tracer = createStepTracer({
      component: 'kubelet',
      clock,
      random: new SeededRandom(),
      otlpEndpoint,
    });
    const object = { kind: 'Pod', namespace: 'default', name: 'web' };
    tracer.record('kubelet.running', {
      parent,
      object,
      startMs: 1_000_000,
      endMs: 1_000_001.5,
      attributes: { tries: 2 },
    });
    await tracer.flush();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    expect(path).toBe('/v1/traces');
    expect(JSON.parse(body)).toMatchObject({
      resourceSpans: [
        {
          resource: { attributes: [{ key: 'service.name', value: { stringValue: 'kubelet' } }] },
          scopeSpans: [
            {
              spans: [
                {
                  name: 'kubelet.running',
                  traceId: '0123456789abcdef0123456789abcdef',
                  parentSpanId: '00000000000000aa',
                  startTimeUnixNano: '1000000000000',
                  attributes: expect.arrayContaining([
                    { key: 'k8s.object.name', value: { stringValue: 'web' } },
                    { key: 'tries', value: { intValue: '2' } },
                  ]) as unknown,
                },
              ],
            },
          ],
        },
      ],
    });
  });
});
