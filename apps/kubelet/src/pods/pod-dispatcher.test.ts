import { silentLogger, VirtualClock } from '@tinkernetes/component-base/testing';
import { CriError, type RuntimeClient } from '@tinkernetes/cri';
import { PodDispatcher, type PodDispatcherDeps } from './pod-dispatcher';
import { uidOf } from './pod-facts';

const timeoutMs = 120_000;

describe('the containers of Pods that went while the kubelet did not run', () => {
  let clock: VirtualClock;
  let stop: AbortController;
  let killed: string[];
  let asked: number;
  /** Before this time the runtime answers no call. */
  let answersAt: number;
  let pods: PodDispatcher;

  beforeEach(() => {
    clock = new VirtualClock();
    stop = new AbortController();
    killed = [];
    asked = 0;
    answersAt = 0;
    const listPodSandbox = async () => {
      asked++;
      if (clock.monotonic() < answersAt) {
        await clock.sleep(timeoutMs, stop.signal);
        throw new CriError('DEADLINE_EXCEEDED', 'no answer');
      }
      return {
        items: [{ id: 's', metadata: { uid: 'gone', name: 'web', namespace: 'default' }, labels: {} }],
      };
    };
    const deps: Partial<PodDispatcherDeps> = {
      runtime: { listPodSandbox } as unknown as RuntimeClient,
      workers: {
        state: () => undefined,
        kill: (pod) => killed.push(uidOf(pod)),
      } as Partial<PodDispatcherDeps['workers']> as PodDispatcherDeps['workers'],
      mirrors: { removeOrphans: () => Promise.resolve() } as Partial<
        PodDispatcherDeps['mirrors']
      > as PodDispatcherDeps['mirrors'],
      clock,
      logger: silentLogger,
      signal: stop.signal,
    };
    pods = new PodDispatcher(deps as PodDispatcherDeps);
  });
  afterEach(() => stop.abort(new Error('end of the test')));

  it('are ended also when the runtime takes minutes until it answers', async () => {
    answersAt = timeoutMs + 1;
    const ended = pods.endOrphans();
    await clock.advance(timeoutMs);
    expect(asked).toBe(1);
    expect(killed).toEqual([]);
    await clock.advance(2000);
    await ended;
    expect(asked).toBe(2);
    expect(killed).toEqual(['gone']);
    expect(clock.timers).toBe(0);
  });

  it('are no longer looked for when the kubelet stops', async () => {
    answersAt = Infinity;
    const ended = expect(pods.endOrphans()).rejects.toThrow('the kubelet stops');
    await clock.advance(timeoutMs);
    stop.abort(new Error('the kubelet stops'));
    await ended;
    await clock.advance(timeoutMs);
    expect(asked).toBe(1);
    expect(clock.timers).toBe(0);
  });
});
