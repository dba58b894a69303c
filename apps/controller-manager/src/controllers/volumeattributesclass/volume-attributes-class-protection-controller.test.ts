import type { PersistentVolume, PersistentVolumeClaim, VolumeAttributesClass } from '@tinkernetes/api';
import {
  classesLeft,
  classesOfClaim,
  classesOfVolume,
  protectedClass,
} from './volume-attributes-class-protection-controller';

const finalizer = 'kubernetes.io/vac-protection';
interface Classes {
  wanted?: string;
  current?: string;
  target?: string;
}
const claim = ({ wanted, current, target }: Classes): PersistentVolumeClaim => ({
  metadata: { name: 'c' },
  spec: { volumeAttributesClassName: wanted },
  status: {
    currentVolumeAttributesClassName: current,
    ...(target === undefined
      ? {}
      : { modifyVolumeStatus: { status: 'InProgress', targetVolumeAttributesClassName: target } }),
  },
});
const found = (finalizers: string[], isGoing = false): VolumeAttributesClass => ({
  metadata: { name: 'gold', finalizers, ...(isGoing ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}) },
  driverName: 'd',
});

// As upstream's TestVACProtectionController has them.
it.each<[string, VolumeAttributesClass, boolean, string[]]>([
  ['a new class is held', found([]), false, [finalizer]],
  ['a new class is held beside what others hold', found(['other']), true, ['other', finalizer]],
  ['a held class stays held', found([finalizer]), false, [finalizer]],
  ['a deleted class in use stays held', found([finalizer], true), true, [finalizer]],
  ['a deleted class out of use is let go', found([finalizer], true), false, []],
  ['a deleted class out of use keeps what others hold', found([finalizer, 'other'], true), false, ['other']],
  ['a deleted class that was never held is not held any more', found(['other'], true), true, ['other']],
])('%s', (_, given, isInUse, expected) => {
  const next = protectedClass(given, isInUse);
  expect(next.metadata.finalizers).toEqual(expected);
  // Nothing is written twice.
  expect(protectedClass(next, isInUse)).toBe(next);
});

it.each<[Classes, string[]]>([
  [{}, []],
  [{ wanted: '' }, []],
  [{ wanted: 'gold' }, ['gold']],
  [{ wanted: 'gold', current: 'gold' }, ['gold']],
  [{ wanted: 'gold', current: 'silver' }, ['gold', 'silver']],
  [{ wanted: 'gold', current: 'silver', target: 'bronze' }, ['gold', 'silver', 'bronze']],
])('a claim of classes %o uses %j', (classes, expected) => {
  expect(classesOfClaim(claim(classes))).toEqual(expected);
});

it.each<[string | undefined, string[]]>([
  [undefined, []],
  ['', []],
  ['gold', ['gold']],
])('a volume of class %j uses %j', (volumeAttributesClassName, expected) => {
  const volume: PersistentVolume = { metadata: { name: 'v' }, spec: { volumeAttributesClassName } };
  expect(classesOfVolume(volume)).toEqual(expected);
});

it.each<[string, Classes, Classes, string[]]>([
  ['begins', { wanted: 'silver', current: 'silver' }, { wanted: 'gold', current: 'silver' }, []],
  ['is over', { wanted: 'gold', current: 'silver' }, { wanted: 'gold', current: 'gold' }, ['silver']],
  [
    'is taken back',
    { wanted: 'gold', current: 'silver', target: 'gold' },
    { wanted: 'silver', current: 'silver' },
    ['gold'],
  ],
])('a change of class that %s leaves classes', (_, before, after, expected) => {
  expect(classesLeft(claim(before), claim(after))).toEqual(expected);
});
