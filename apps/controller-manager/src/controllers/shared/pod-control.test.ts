import type { Pod, ReplicaSet } from '@tinkernetes/api';
import { StatusError } from '@tinkernetes/apimachinery';
import type { ControllerContext } from '../../manager/context';
import { createPod, podFromTemplate } from './pod-control';

const owner = (name = 'web'): ReplicaSet => ({ metadata: { name, namespace: 'ns' }, spec: { selector: {} } });
const controllerRef = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'u', controller: true };
const podOf = (name?: string) =>
  podFromTemplate({
    owner: owner(name),
    controllerRef,
    template: {
      metadata: { labels: { app: 'web' }, annotations: { a: 'b' }, finalizers: ['f'] },
      spec: { containers: [] },
    },
  });
const refusal = (reason: string) =>
  new StatusError('Forbidden', 'no', { details: { causes: [{ reason, message: '' }] } });

it('makes a Pod of a template, with what the template says and a name of its own', () => {
  expect(podOf()).toEqual({
    metadata: {
      generateName: 'web-',
      namespace: 'ns',
      labels: { app: 'web' },
      annotations: { a: 'b' },
      finalizers: ['f'],
      ownerReferences: [controllerRef],
    },
    spec: { containers: [] },
  });
  expect(podOf('w'.repeat(60)).metadata.generateName).toBe('w'.repeat(60));
});

it.each([
  ['tells of a Pod that it made', undefined, 'Normal SuccessfulCreate: Created pod: web-1', false],
  [
    'tells of one that is refused',
    refusal('FieldValueForbidden'),
    'Warning FailedCreate: Error creating: no',
    true,
  ],
  ['says nothing in a namespace that is going', refusal('NamespaceTerminating'), undefined, false],
])('%s', async (_, error, event, isThrown) => {
  const events: string[] = [];
  const pod = { metadata: { name: 'web-1' }, spec: { containers: [] } } satisfies Pod;
  const context = {
    client: { for: () => ({ create: () => (error ? Promise.reject(error) : Promise.resolve(pod)) }) },
    recorder: {
      event: (...[, type, reason, message]: [object, string, string, string]) =>
        events.push(`${type} ${reason}: ${message}`),
    },
  } as unknown as ControllerContext;
  const made = createPod(context, { owner: owner(), pod: podOf() });
  if (isThrown) await expect(made).rejects.toBe(error);
  else await made;
  expect(events).toEqual(event === undefined ? [] : [event]);
});
