import { UsageError } from '@tinkernetes/component-base';
import { allocatableOf, parseReserved } from './reserved';

it('leaves for Pods what is not reserved, in the form of the capacity', () => {
  const capacity = { cpu: '4', memory: '8000Mi', 'ephemeral-storage': '1000Ki', pods: '110' };
  const system = parseReserved('system-reserved', ['cpu=500m', 'memory=1Gi']);
  const kube = parseReserved('kube-reserved', ['memory=100Mi', 'pid=1000']);
  expect(allocatableOf(capacity, [system, kube])).toEqual({
    cpu: '3500m',
    memory: '6876Mi',
    'ephemeral-storage': '1000Ki',
    pods: '110',
  });
});

it('leaves nothing where more is reserved than there is', () => {
  const system = parseReserved('system-reserved', ['cpu=8']);
  expect(allocatableOf({ cpu: '4' }, [system])).toEqual({ cpu: '0' });
});

it.each(['cpu', 'cpu=', 'cpu=-1', 'cpu=many', 'pods=3', '=1'])('refuses %s', (entry) => {
  expect(() => parseReserved('system-reserved', [entry])).toThrow(UsageError);
});
