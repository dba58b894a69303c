import type { Pod, Service } from '@tinkernetes/api';
import { TriggerTimes, withTriggerTime } from './trigger-times';

const at = (second: number) => `2026-01-01T00:00:${String(second).padStart(2, '0')}Z`;
const serviceOf = (created = 1): Service => ({
  metadata: { name: 'web', creationTimestamp: at(created) },
  spec: {},
});
const podOf = (name: string, readySince?: number): Pod => ({
  metadata: { name },
  spec: { containers: [] },
  status: {
    conditions:
      readySince === undefined ? [] : [{ type: 'Ready', status: 'True', lastTransitionTime: at(readySince) }],
  },
});

it('names the creation of a Service first, then the earliest change of a Pod since the last look', () => {
  const times = new TriggerTimes();
  const look = (pods: Pod[], service = serviceOf()) => times.next('ns/web', service, pods);
  expect(look([podOf('a', 5)])).toBe(at(1));
  expect(look([podOf('a', 5)])).toBeUndefined();
  expect(look([podOf('a', 9), podOf('b', 7), podOf('c')])).toBe(at(7));
  expect(look([podOf('a', 9)])).toBeUndefined();
  expect(look([podOf('a', 9)], serviceOf(20))).toBe(at(20));
  times.forget('ns/web');
  expect(look([podOf('a', 9)])).toBe(at(1));
});

it.each([
  [{ note: 'kept' }, at(3), { note: 'kept', 'endpoints.kubernetes.io/last-change-trigger-time': at(3) }],
  [{ 'endpoints.kubernetes.io/last-change-trigger-time': at(1) }, undefined, {}],
])('annotations %j with the time %s are %j', (annotations, time, expected) => {
  expect(withTriggerTime({ metadata: { name: 'x', annotations } }, time)).toEqual(expected);
});
