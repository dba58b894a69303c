import { createMetrics } from './prometheus';

describe('createMetrics', () => {
  it('gives the same family to all who ask for its name', async () => {
    const metrics = createMetrics();
    metrics.counter('adds_total', 'Adds', ['name']).inc({ name: 'a' });
    metrics.counter('adds_total', 'Adds', ['name']).inc({ name: 'a' }, 2);
    expect(await metrics.expose()).toContain('adds_total{name="a"} 3');
  });

  it('keeps components of one process apart', async () => {
    createMetrics().counter('adds_total', 'Adds').inc();
    expect(await createMetrics().expose()).not.toContain('adds_total');
  });

  it('reads gauges when they are scraped, the process among them', async () => {
    const metrics = createMetrics();
    let depth = 1;
    metrics.gauge('depth', 'Depth').collect(() => depth);
    depth = 7;
    const text = await metrics.expose();
    expect(text).toContain('depth 7');
    expect(Number(/^process_resident_memory_bytes (\d+)/m.exec(text)?.[1])).toBeGreaterThan(1e6);
    expect(text).toMatch(/^nodejs_eventloop_lag_max_seconds 0$/m);
  });
});
