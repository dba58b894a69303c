import { ConfigMaps, type KubeObject, type OwnerReference } from '@tinkernetes/api';
import { blockingDependents, OwnershipGraph } from './graph';

const owned = (uid: string, reference: Partial<OwnerReference> = {}): OwnerReference => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  name: `name-${uid}`,
  uid,
  ...reference,
});
const object = (uid: string, metadata: Partial<KubeObject['metadata']> = {}): KubeObject => ({
  metadata: { name: `name-${uid}`, namespace: 'default', uid, ...metadata },
});
const leaving = (finalizer: string) => ({
  deletionTimestamp: '2026-01-01T00:00:00Z',
  finalizers: [finalizer],
});

describe('OwnershipGraph', () => {
  let asked: string[];
  let graph: OwnershipGraph;
  beforeEach(() => {
    asked = [];
    graph = new OwnershipGraph({
      attemptToDelete: ({ uid }) => asked.push(`delete ${uid}`),
      attemptToOrphan: ({ uid }) => asked.push(`orphan ${uid}`),
    });
  });
  const observe = (...objects: KubeObject[]) => {
    for (const o of objects) graph.observed(o, ConfigMaps, 'v1');
  };
  /** What is asked for from here on. */
  const askedBy = (work: () => void): string[] => {
    asked.length = 0;
    work();
    return asked;
  };

  it('keeps no node of what owns nothing and is owned by nobody', () => {
    observe(object('a'));
    expect([graph.size, asked]).toEqual([0, []]);
  });

  it('looks up an owner that was only heard of, until it is seen', () => {
    observe(object('kid', { ownerReferences: [owned('boss')] }));
    expect(asked).toEqual(['delete boss']);
    expect(graph.get('boss')).toMatchObject({ virtual: true, namespace: 'default', name: 'name-boss' });
    observe(object('boss'));
    expect(graph.get('boss')).toMatchObject({ virtual: false });
    expect([...(graph.get('boss')?.dependents ?? [])].map(({ uid }) => uid)).toEqual(['kid']);
  });

  it('forgets an owner that was only heard of with its last dependent', () => {
    observe(object('kid', { ownerReferences: [owned('boss')] }));
    graph.removed('kid');
    expect(graph.size).toBe(0);
  });

  it('asks for the dependents of an object that is gone', () => {
    observe(object('kid', { ownerReferences: [owned('boss')] }), object('boss'));
    expect(askedBy(() => graph.removed('boss'))).toEqual(['delete kid']);
  });

  it('asks for dependents, then for the owner, once a deletion in the foreground begins', () => {
    observe(object('kid', { ownerReferences: [owned('boss')] }), object('boss'));
    const begin = () => observe(object('boss', leaving('foregroundDeletion')));
    expect(askedBy(begin)).toEqual(['delete kid', 'delete boss']);
    expect(askedBy(begin)).toEqual([]);
    expect(askedBy(() => graph.removed('kid'))).toEqual(['delete boss']);
  });

  it('asks for a dependent that comes while its owner waits, and for the owner when one stops blocking', () => {
    const kid = (blockOwnerDeletion: boolean) =>
      object('kid', { ownerReferences: [owned('boss', { blockOwnerDeletion })] });
    observe(
      object('first', { ownerReferences: [owned('boss')] }),
      object('boss', leaving('foregroundDeletion')),
    );
    expect(askedBy(() => observe(kid(true)))).toEqual(['delete boss', 'delete kid']);
    expect(askedBy(() => observe(kid(false)))).toEqual(['delete boss']);
    expect(askedBy(() => observe(object('kid')))).toEqual(['delete boss']);
  });

  it.each<[string, Partial<OwnerReference>, Partial<KubeObject['metadata']>]>([
    ['of another namespace', {}, { namespace: 'other' }],
    ['of a namespace, being in none', {}, { namespace: undefined }],
    ['by another name', { name: 'else' }, {}],
    ['by another kind', { kind: 'Secret' }, {}],
  ])('asks for an object that names an owner %s', (_, reference, metadata) => {
    observe(object('first', { ownerReferences: [owned('boss')] }), object('boss'));
    const stray = object('stray', { ownerReferences: [owned('boss', reference)], ...metadata });
    expect(askedBy(() => observe(stray))).toEqual(['delete stray']);
    expect(askedBy(() => observe(stray))).toEqual([]);
  });

  it('asks for no object that names its owner as it is', () => {
    observe(object('first', { ownerReferences: [owned('boss')] }), object('boss'));
    expect(askedBy(() => observe(object('next', { ownerReferences: [owned('boss')] })))).toEqual([]);
  });

  it('asks to orphan once', () => {
    const orphan = () => observe(object('boss', leaving('orphan')));
    expect(askedBy(orphan)).toEqual(['orphan boss']);
    expect(askedBy(orphan)).toEqual([]);
  });

  it('waits only for dependents that block', () => {
    observe(
      object('a', { ownerReferences: [owned('boss', { blockOwnerDeletion: true })] }),
      object('b', { ownerReferences: [owned('boss')] }),
    );
    const boss = graph.get('boss');
    expect(boss && blockingDependents(boss).map(({ uid }) => uid)).toEqual(['a']);
  });
});
