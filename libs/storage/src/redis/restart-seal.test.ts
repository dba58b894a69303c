import { createLogger } from '@tinkernetes/component-base';
import type { Redis } from 'ioredis';
import { Writable } from 'node:stream';
import { sealAfterRestart } from './restart-seal';

const alreadyInProgress = 'ERR Background append only file rewriting already in progress';

/** A store's Redis that was started anew. Its rewrite, once begun, lasts for two looks at it. */
class RestartedRedis {
  readonly calls: string[] = [];
  private looksLeft = 0;

  /** `refusal`: what a rewrite is answered with; `isBegunByOther`: nevertheless one has begun. */
  constructor(private readonly refusal?: { message: string; isBegunByOther: boolean }) {}

  client(): Redis {
    const client = {
      status: 'ready',
      exists: () => Promise.resolve(1),
      hget: () => Promise.resolve('the run before'),
      hset: () => this.called('seal', 1),
      bgrewriteaof: () => {
        if (this.refusal?.isBegunByOther !== false) this.looksLeft = 2;
        if (this.refusal) return Promise.reject(new Error(this.refusal.message));
        return this.called('begin', 'Background append only file rewriting started');
      },
      info: (section: string) =>
        section === 'server' ? Promise.resolve('run_id:this run') : Promise.resolve(this.persistence()),
    };
    return client as unknown as Redis;
  }

  private persistence(): string {
    const isRewriting = this.looksLeft > 0;
    if (isRewriting && --this.looksLeft === 0) this.calls.push('end');
    return `aof_enabled:1\r\naof_rewrite_in_progress:${Number(isRewriting)}\r\naof_last_bgrewrite_status:ok`;
  }

  private called<T>(what: string, answer: T): Promise<T> {
    this.calls.push(what);
    return Promise.resolve(answer);
  }
}

describe('sealing a Redis that was started anew', () => {
  it.each([
    { what: 'rewrites the log', refusal: undefined, calls: ['begin', 'end', 'seal'], warns: false },
    {
      what: 'waits for the rewrite that another API server began at the same moment',
      refusal: { message: alreadyInProgress, isBegunByOther: true },
      calls: ['end', 'seal'],
      warns: false,
    },
    {
      what: 'goes on with a warning where the log cannot be rewritten',
      refusal: { message: "ERR Can't execute an AOF background rewriting", isBegunByOther: false },
      calls: ['seal'],
      warns: true,
    },
  ])('$what', async ({ refusal, calls, warns }) => {
    const redis = new RestartedRedis(refusal);
    let logged = '';
    const destination = new Writable({
      write(chunk: Buffer, _, done) {
        logged += chunk.toString();
        done();
      },
    });
    const logger = createLogger({ component: 'test', level: 'warn', destination });
    await sealAfterRestart(redis.client(), { metaKey: 'meta', name: 'redis://test', logger });
    expect(redis.calls).toEqual(calls);
    expect(logged.includes('append-only file')).toBe(warns);
  });
});
