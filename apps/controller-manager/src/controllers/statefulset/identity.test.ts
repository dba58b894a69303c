import type { PersistentVolumeClaim, Pod, StatefulSet } from '@tinkernetes/api';
import { isLeaving, missingOwners } from './claim-retention';
import { memberClaims, memberPod, ordinalOf } from './identity';

const setOf = (spec: Partial<StatefulSet['spec']> = {}): StatefulSet => ({
  metadata: { name: 'db', namespace: 'default', uid: 'set' },
  spec: {
    serviceName: 'db-svc',
    replicas: 2,
    selector: { matchLabels: { app: 'db' } },
    template: { metadata: { labels: { app: 'db' } }, spec: { containers: [] } },
    volumeClaimTemplates: [{ metadata: { name: 'data', labels: { tier: 'gold' } }, spec: {} }],
    ...spec,
  },
});

it.each([
  ['db-0', 0],
  ['db-12', 12],
  ['db-01', undefined],
  ['db-', undefined],
  ['db-x', undefined],
  ['db-a-1', undefined],
  ['other-1', undefined],
])('the ordinal of %s is %s', (name, ordinal) => {
  expect(ordinalOf(setOf(), name)).toBe(ordinal);
});

it('gives a member its name, labels, host name and the volumes of its own claims', () => {
  const spec = {
    containers: [],
    volumes: [
      { name: 'data', emptyDir: {} },
      { name: 'tmp', emptyDir: {} },
    ],
  };
  const template = { metadata: { labels: { app: 'db' } }, spec };
  const pod = memberPod(setOf(), 3, { name: 'db-5d4f', template });
  expect(pod.metadata).toMatchObject({
    name: 'db-3',
    labels: {
      app: 'db',
      'statefulset.kubernetes.io/pod-name': 'db-3',
      'apps.kubernetes.io/pod-index': '3',
      'controller-revision-hash': 'db-5d4f',
    },
  });
  expect(pod.metadata.generateName).toBeUndefined();
  expect(pod.spec).toMatchObject({ hostname: 'db-3', subdomain: 'db-svc' });
  expect(pod.spec.volumes).toEqual([
    { name: 'data', persistentVolumeClaim: { claimName: 'data-db-3', readOnly: false } },
    { name: 'tmp', emptyDir: {} },
  ]);
});

it('labels the claims of a member as the template says, and as the set selects', () => {
  expect(memberClaims(setOf(), 1).map(({ metadata }) => metadata)).toEqual([
    { name: 'data-db-1', namespace: 'default', labels: { tier: 'gold', app: 'db' } },
  ]);
});

describe('the retention policy', () => {
  const pod = (ordinal: number): Pod => ({
    metadata: { name: `db-${ordinal}`, uid: `pod-${ordinal}` },
    spec: { containers: [] },
  });
  const claim = (...ownerReferences: object[]): PersistentVolumeClaim => ({
    metadata: { name: 'data-db-1', ownerReferences: ownerReferences as never },
    spec: {},
  });
  const ofSet = { kind: 'StatefulSet', uid: 'set', controller: true };
  const ofPod = { kind: 'Pod', uid: 'pod-2', name: 'db-2', controller: true };
  const foreign = { kind: 'Backup', uid: 'b', name: 'b', controller: true };
  const retention = (whenDeleted: string, whenScaled: string) =>
    setOf({ persistentVolumeClaimRetentionPolicy: { whenDeleted, whenScaled } });
  const kept = retention('Retain', 'Retain');
  it.each([
    ['none owns the claim where all are kept', kept, pod(1), claim(), undefined],
    ['takes the set off a claim that is to be kept', kept, pod(1), claim(ofSet), []],
    ['the set owns what goes with it', retention('Delete', 'Retain'), pod(1), claim(), ['set']],
    [
      'the Pod owns what goes when it is scaled away',
      retention('Delete', 'Delete'),
      pod(2),
      claim(ofSet),
      ['pod-2'],
    ],
    [
      'the set takes it back when the set grows again',
      retention('Delete', 'Delete'),
      pod(1),
      claim({ ...ofPod, name: 'db-1' }),
      ['set'],
    ],
    [
      'nothing is missing where it is as it should be',
      retention('Delete', 'Delete'),
      pod(2),
      claim(ofPod),
      undefined,
    ],
    [
      'what somebody else controls is theirs',
      retention('Delete', 'Delete'),
      pod(2),
      claim(foreign),
      undefined,
    ],
    [
      'counts from the first ordinal',
      setOf({ ...retention('Retain', 'Delete').spec, ordinals: { start: 5 } }),
      pod(2),
      claim(),
      ['pod-2'],
    ],
  ])('%s', (_, set, member, given, owners) => {
    expect(missingOwners(set, member, given)?.map(({ uid }) => uid)).toEqual(owners);
  });

  it.each([
    ['one that its Pod owns', claim(ofPod), true],
    ['one that is being deleted', { ...claim(), metadata: { name: 'c', deletionTimestamp: 't' } }, true],
    ['no other', claim(ofSet), false],
  ])('waits for the end of %s', (_, given, expected) => {
    expect(isLeaving(given, 'db-2')).toBe(expected);
  });
});
