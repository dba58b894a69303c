import { Events, Eventsv1Events } from '@tinkernetes/api';
import type { Event, EventsV1Event } from '@tinkernetes/api';
import { invalid } from '@tinkernetes/apimachinery';
import { eventCells, newEventCells } from '../../../printers/events';
import { defineStrategy } from '../../define-strategy';
import { fill } from '../../fill';
import { immutable } from '../../immutable';
import { requireOneOf, requireValue } from '../../rules';
import type { Errors } from '../../rules';

const ttl = 3600;

/** Events of the core group: only the involved object's namespace is checked. */
function validate(event: Event): Errors {
  const involved = event.involvedObject.namespace ?? '';
  const own = event.metadata.namespace ?? '';
  const isWrong = involved === '' ? own !== '' && own !== 'default' : involved !== own;
  return isWrong ? [invalid('involvedObject.namespace', involved, 'does not match event.namespace')] : [];
}

/** Source: pkg/registry/core/event. The object's whole identity can be selected by. */
const coreFields = (event: Event): Record<string, string> => ({
  'involvedObject.kind': event.involvedObject.kind ?? '',
  'involvedObject.namespace': event.involvedObject.namespace ?? '',
  'involvedObject.name': event.involvedObject.name ?? '',
  'involvedObject.uid': event.involvedObject.uid ?? '',
  'involvedObject.apiVersion': event.involvedObject.apiVersion ?? '',
  'involvedObject.resourceVersion': event.involvedObject.resourceVersion ?? '',
  'involvedObject.fieldPath': event.involvedObject.fieldPath ?? '',
  reason: event.reason ?? '',
  reportingComponent: event.reportingComponent ?? '',
  source: event.source?.component || event.reportingComponent || '',
  type: event.type ?? '',
});
const coreFieldNames = Object.keys(coreFields({ metadata: { name: '' }, involvedObject: {} }));

export const eventStrategy = defineStrategy(Events, {
  nameCheck: () => [],
  allowCreateOnUpdate: true,
  default: (event) => fill(event, { involvedObject: {}, reportingComponent: '', reportingInstance: '' }),
  validate,
  ttlSeconds: () => ttl,
  selectableFieldNames: coreFieldNames,
  selectableFields: coreFields,
  tableCells: eventCells,
});

/** Events of events.k8s.io have to be complete. Source: pkg/apis/core/validation/events.go. */
function validateNew(event: EventsV1Event): Errors {
  return [
    ...requireValue('reportingController', event.reportingController),
    ...requireValue('reportingInstance', event.reportingInstance),
    ...requireValue('action', event.action),
    ...requireValue('reason', event.reason),
    ...requireOneOf('type', event.type, ['Normal', 'Warning']),
  ];
}

export const newEventStrategy = defineStrategy(Eventsv1Events, {
  nameCheck: () => [],
  allowCreateOnUpdate: true,
  validate: validateNew,
  validateUpdate: (event, old) => [
    ...immutable('regarding', event.regarding, old.regarding),
    ...immutable('eventTime', event.eventTime, old.eventTime),
  ],
  ttlSeconds: () => ttl,
  tableCells: newEventCells,
});
