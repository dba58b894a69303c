import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { serveHealth } from './health-server';
import { createMetrics } from './prometheus';

describe('serveHealth', () => {
  const stop = new AbortController();
  let base: string;
  let stopped: Promise<void>;
  let broken = false;

  beforeAll(async () => {
    const check = () => {
      if (broken) throw new Error('no leader');
    };
    const server = await serveHealth({
      bindAddress: '127.0.0.1',
      port: 0,
      metrics: createMetrics(),
      signal: stop.signal,
      readyChecks: { leader: check },
    });
    base = `http://127.0.0.1:${server.port}`;
    stopped = server.stopped;
  });
  afterEach(() => {
    broken = false;
  });
  afterAll(async () => {
    stop.abort();
    await stopped;
  });

  const get = async (path: string) => {
    const response = await fetch(base + path, { headers: { connection: 'close' } });
    return { code: response.status, text: await response.text() };
  };

  it.each(['/healthz', '/livez', '/readyz'])('answers ok at %s', async (path) => {
    expect(await get(path)).toEqual({ code: 200, text: 'ok' });
  });

  it('lists the checks when asked to be verbose', async () => {
    expect(await get('/readyz?verbose')).toEqual({
      code: 200,
      text: '[+]ping ok\n[+]leader ok\nreadyz check passed\n',
    });
  });

  it('is alive but not ready while a ready check fails', async () => {
    broken = true;
    expect((await get('/livez')).code).toBe(200);
    expect(await get('/readyz')).toEqual({
      code: 500,
      text: '[+]ping ok\n[-]leader failed: no leader\nreadyz check failed\n',
    });
    expect((await get('/readyz/ping')).code).toBe(200);
  });

  it('exposes metrics and nothing else', async () => {
    expect((await get('/metrics')).text).toContain('process_cpu_seconds_total');
    expect((await get('/other')).code).toBe(404);
  });

  it.each(['//', '/%', 'http://['])('survives a request for %s', async (target) => {
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(base).port) });
    socket.write(`GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    expect(await text(socket)).toContain('404 Not Found');
  });
});
