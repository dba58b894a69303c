import type { FinishedStep } from '@tinkernetes/component-base';
import { SpanCollector } from './span-collector';

const span = (traceId: string, kind: string, startMs: number): FinishedStep => ({
  id: 'apiserver.decode',
  traceId,
  spanId: `${startMs}`,
  component: 'kube-apiserver',
  object: { kind, namespace: 'default', name: 'web' },
  startMs,
  endMs: startMs + 1,
  attributes: {},
});

describe('SpanCollector', () => {
  it('finds the whole trace of an object, in order of time', () => {
    const collector = new SpanCollector();
    collector.add([span('t1', 'Pod', 5), span('t1', 'Deployment', 1), span('t2', 'Service', 2)]);
    const found = collector.find({ kind: 'deployment', namespace: 'default', name: 'web' });
    expect(found.map(({ startMs }) => startMs)).toEqual([1, 5]);
  });

  it('finds the newest of the objects that had one name', () => {
    const collector = new SpanCollector();
    const about = (traceId: string, uid: string, startMs: number): FinishedStep => ({
      ...span(traceId, 'Deployment', startMs),
      object: { kind: 'Deployment', namespace: 'default', name: 'web', uid },
    });
    collector.add([
      about('t1', 'old', 1),
      about('t2', 'new', 5),
      about('t3', 'new', 7),
      about('t1', 'old', 2),
    ]);
    const found = collector.find({ kind: 'deployment', namespace: 'default', name: 'web' });
    expect(found.map(({ traceId }) => traceId)).toEqual(['t2', 't3']);
  });

  it('forgets the oldest traces when there are too many spans', () => {
    const collector = new SpanCollector(3);
    collector.add([span('t1', 'Pod', 1), span('t1', 'Pod', 2)]);
    collector.add([span('t2', 'Pod', 3), span('t2', 'Pod', 4)]);
    expect(collector.find({ traceId: 't1' })).toEqual([]);
    expect(collector.size).toBe(2);
  });
});
