import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import { realClock, realRandom, type Logger } from '@tinkernetes/component-base';
import {
  eventually,
  findProgram,
  RedisServer,
  silentLogger,
  VirtualClock,
} from '@tinkernetes/component-base/testing';
import { workQueueContract } from '../testing';
import type { Job } from 'bullmq';
import { Redis } from 'ioredis';
import type { BullQueue } from './bull-queue';
import { createBullWorkQueues } from './bull-work-queues';
import { HeldKey } from './held-key';

/** What processes on a busy machine may wait for their turns; BullMQ's own setting would be a minute. */
const busyMs = 15_000;

const program = findProgram('redis-server');
const describeWithRedis = program === undefined ? describe.skip : describe;

describeWithRedis('BullMQ work queue (needs redis-server: apt-get install redis-server)', () => {
  let redis: RedisServer;
  let tests = 0;
  beforeAll(async () => {
    redis = await RedisServer.start(program ?? '', ['--appendonly', 'no']);
  });
  afterAll(() => redis?.remove());

  const create = (prefix: string) =>
    createBullWorkQueues({ url: redis.url, logger: silentLogger, random: realRandom, prefix });

  workQueueContract({ create: () => create(`contract-${++tests}`) });

  const startWorker = (script: string, prefix: string) => {
    const child = spawn(process.execPath, [script, redis.url, prefix], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const exited = new Promise((resolve) => child.once('exit', resolve));
    let said = '';
    child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
    return { child, exited, said: () => said };
  };

  it('shares the keys of one queue between processes, each key with one of them at a time', async () => {
    const factories = await Promise.all([create('shared'), create('shared')]);
    const queues = factories.map((factory) => factory.create('q'));
    const active = new Set<string>();
    const overlaps: string[] = [];
    const runs: string[] = [];
    const workers = queues.map(async (queue) => {
      for (let item = await queue.get(); item; item = await queue.get()) {
        if (active.has(item.key)) overlaps.push(item.key);
        active.add(item.key);
        runs.push(item.key);
        await realClock.sleep(2);
        active.delete(item.key);
        item.done();
      }
    });
    for (let i = 0; i < 60; i++) queues[i % 2]?.add(`key-${i % 20}`);
    await eventually(() => expect(new Set(runs).size).toBe(20));
    await Promise.all(queues.map((queue) => queue.shutDown()));
    await Promise.all(workers);
    await Promise.all(factories.map((factory) => factory.close()));
    expect(overlaps).toEqual([]);
  });

  it('shows its queues on Bull Board', async () => {
    const factory = await create('board');
    factory.create('deployment').add('default/web');
    const { port } = await factory.serveBoard({ bindAddress: '127.0.0.1', port: 0 });
    const page = await fetch(`http://127.0.0.1:${port}/`);
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('<html')]);
    await eventually(async () => {
      const answer = await fetch(
        `http://127.0.0.1:${port}/api/queues?activeQueue=deployment&page=1&jobsPerPage=10`,
      );
      const { queues } = (await answer.json()) as { queues: { name: string; jobs: { name: string }[] }[] };
      expect(queues.map((q) => [q.name, q.jobs.map((j) => j.name)])).toEqual([
        ['deployment', ['default/web']],
      ]);
    });
    await factory.close();
    await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow();
  });

  it('keeps waiting and delayed keys over a restart', async () => {
    const first = await create('restart');
    const queue = first.create('q');
    queue.add('waiting');
    queue.addAfter('delayed', 400);
    await first.close();
    const second = await create('restart');
    const again = second.create('q');
    const keys = [];
    for (let i = 0; i < 2; i++) {
      const item = await again.get();
      keys.push(item?.key);
      item?.done();
    }
    expect(keys).toEqual(['waiting', 'delayed']);
    await second.close();
  });

  it("counts a key's failures over a restart", async () => {
    const first = await create('failures');
    const queue = first.create('q');
    for (let i = 0; i < 3; i++) {
      queue.addRateLimited('a');
      (await queue.get())?.done();
    }
    await first.close();
    const second = await create('failures');
    const again = second.create('q');
    again.add('a');
    (await again.get())?.done();
    expect(again.numRequeues('a')).toBe(3);
    again.forget('a');
    await second.close();
    const third = await create('failures');
    const last = third.create('q');
    last.add('a');
    (await last.get())?.done();
    expect(last.numRequeues('a')).toBe(0);
    await third.close();
  });

  it('gives the key of a process that stands still to another, and tells the first when it goes on', async () => {
    const script = await bundledWorker();
    const factory = await create('sigstop');
    const queue = factory.create('q');
    queue.add('a');
    const { child, exited, said } = startWorker(script, 'sigstop');
    await eventually(() => expect(said()).toBe('took a\n'));
    child.kill('SIGSTOP');
    const taken = await queue.get();
    expect(taken?.key).toBe('a');
    child.kill('SIGCONT');
    await eventually(() => expect(said()).toBe('took a\nlost\n'));
    await exited;
    // The first one's end of the run must not have freed the key under the second.
    expect(taken?.signal.aborted).toBe(false);
    taken?.done();
    await factory.close();
    await rm(dirname(script), { recursive: true });
  });

  it('gives the key of a process that was killed to another within 3 s', async () => {
    const script = await bundledWorker();
    const factory = await create('sigkill');
    const queue = factory.create('q');
    // The lock has to run out, and then the next look at stalled keys finds it.
    const { lockDuration = 0, stalledInterval = 0 } = (queue as BullQueue)['worker'].opts;
    const boundMs = lockDuration + stalledInterval;
    expect(boundMs).toBeLessThanOrEqual(3000);
    queue.add('a');
    const { child, exited, said } = startWorker(script, 'sigkill');
    const server = new Redis(redis.url);
    const delays = monitorEventLoopDelay({ resolution: 10 });
    try {
      await eventually(() => expect(said()).toBe('took a\n'));
      delays.enable();
      child.kill('SIGKILL');
      await exited;
      const [seconds, micros] = await server.time();
      const killedMs = Number(seconds) * 1000 + Number(micros) / 1000;
      const [lock = ''] = await server.keys('sigkill:q:*:lock');
      expect(await server.pttl(lock)).toBeLessThanOrEqual(lockDuration);
      const taken = await queue.get();
      expect([taken?.key, taken?.isTakenOver]).toEqual(['a', true]);
      taken?.done();
      // By Redis' own clock, and without what the machine kept this process from looking.
      const events = await server.xrange('sigkill:q:events', '-', '+');
      const [stalledAt = ''] = events.find(([, fields]) => fields.includes('stalled')) ?? [];
      const tookMs = Number(stalledAt.split('-')[0]) - killedMs;
      expect(tookMs).toBeGreaterThan(0);
      expect(tookMs).toBeLessThanOrEqual(boundMs + busyMs + (2 * delays.max) / 1e6);
    } finally {
      delays.disable();
      await server.quit();
      await factory.close();
      await rm(dirname(script), { recursive: true });
    }
  });

  it('takes keys again after Redis could not say what is known of one', async () => {
    const client = new Redis(redis.url);
    const warn = jest.fn();
    const logger: Logger = { ...silentLogger, warn, child: () => logger };
    const factory = await createBullWorkQueues({
      url: redis.url,
      logger,
      random: realRandom,
      prefix: 'unread',
    });
    try {
      // No hash: reading from it fails.
      await client.set('unread:q:seen', 'damaged');
      const queue = factory.create('q');
      queue.add('a');
      const taking = queue.get();
      await eventually(() =>
        expect(warn).toHaveBeenCalledWith(expect.anything(), 'no key taken, trying again'),
      );
      await client.del('unread:q:seen');
      const item = await taking;
      expect([item?.key, item?.isHeld()]).toEqual(['a', true]);
      item?.done();
    } finally {
      await factory.close();
      await client.quit();
    }
  });

  it('holds a key no longer than its lock lasts, whatever its timers have had time for', () => {
    let now = 0;
    // Time goes by as for a process that is stopped: no timer fires.
    const clock = Object.assign(new VirtualClock(), { monotonic: () => now });
    const held = new HeldKey({ job: {} as Job, token: '', clock, logger: silentLogger });
    expect(held.isHeld()).toBe(true);
    now = 2001;
    expect([held.isHeld(), held.signal.aborted]).toEqual([false, true]);
    held.release();
  });

  it('tells a worker at once that its lock is gone', async () => {
    const [slow, other] = await Promise.all([create('lost'), create('lost')]);
    const slowQueue = slow.create('q');
    slowQueue.add('a');
    const held = await slowQueue.get();
    const taking = other.create('q').get();
    await breakLock(redis.url, 'lost');
    await eventually(() => expect(held?.signal.aborted).toBe(true));
    const taken = await taking;
    expect(taken?.key).toBe('a');
    held?.done({ wroteResourceVersion: 'pods=7' });
    expect(taken?.signal.aborted).toBe(false);
    taken?.done();
    await Promise.all([slow.close(), other.close()]);
  });
});

/** The script of a worker in a process of its own. */
async function bundledWorker(): Promise<string> {
  const script = join(await mkdtemp(join(tmpdir(), 'worker-')), 'worker.cjs');
  await build({
    entryPoints: [join(__dirname, 'worker-for-test.ts')],
    outfile: script,
    bundle: true,
    platform: 'node',
    external: ['@bull-board/*', 'express'],
    logLevel: 'silent',
  });
  return script;
}

/** Deletes all locks of a prefix, as if their time had run out. */
async function breakLock(url: string, prefix: string): Promise<void> {
  const redis = new Redis(url);
  const locks = await redis.keys(`${prefix}:*:lock`);
  if (locks.length > 0) await redis.del(...locks);
  await redis.quit();
}
