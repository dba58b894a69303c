import { Events, Eventsv1Events } from '@tinkernetes/api';
import type { Event, EventsV1Event } from '@tinkernetes/api';
import { invalid, isQualifiedName, required } from '@tinkernetes/apimachinery';
import type { StrategyContext } from '../../../contracts';
import { eventCells, newEventCells } from '../../../printers/events';
import { defineStrategy } from '../../define-strategy';
import { fill } from '../../fill';
import { immutable } from '../../immutable';
import { check } from '../../rules';
import type { Errors } from '../../rules';

const ttl = 3600;

const longest = 128;
const longestMessage = 1024;
const tooLongText = (most: number) => `can have at most ${most} characters`;

/** Both groups' events are kept as those of the core group. Source: core/validation.ValidateEventCreate. */
function validate(event: Event, { apiVersion }: StrategyContext): Errors {
  const errors = validateLegacy(event, apiVersion);
  return apiVersion === 'v1' ? errors : [...errors, ...validateStrictly(event)];
}

/** Events with a time of their own have to be complete. */
function validateLegacy(event: Event, apiVersion: string): Errors {
  const involved = event.involvedObject.namespace ?? '';
  const own = event.metadata.namespace ?? '';
  const path = 'involvedObject.namespace';
  const mismatch = [invalid(path, involved, 'does not match event.namespace')];
  if (!event.eventTime) {
    const isWrong = involved === '' ? own !== '' && own !== 'default' : involved !== own;
    return isWrong ? mismatch : [];
  }
  const controller = event.reportingComponent ?? '';
  const controllerPath = apiVersion === 'v1' ? 'reportingComponent' : 'reportingController';
  return [
    ...(involved === '' && own !== 'default' && own !== 'kube-system' ? mismatch : []),
    ...(controller === '' ? [required(controllerPath)] : []),
    ...check(controllerPath, controller, isQualifiedName),
    ...(['reportingInstance', 'action', 'reason'] as const).flatMap((field) => {
      const text = event[field] ?? '';
      if (text === '') return [required(field)];
      return text.length > longest ? [invalid(field, '', tooLongText(longest))] : [];
    }),
    ...((event.message?.length ?? 0) > longestMessage
      ? [invalid('message', '', tooLongText(longestMessage))]
      : []),
  ];
}

/** What the newer group lets nobody change: the field, how it is reported, and the struct as which it is shown. */
const unchanged: ReadonlyArray<readonly [keyof Event, string, string?]> = [
  ['involvedObject', 'involvedObject', 'ObjectReference'],
  ['reason', 'reason'],
  ['message', 'message'],
  ['source', 'source'],
  ['firstTimestamp', 'firstTimestamp'],
  ['lastTimestamp', 'lastTimestamp'],
  ['count', 'count'],
  ['reason', 'reason'],
  ['type', 'type'],
  ['eventTime', 'eventTime'],
  ['action', 'action'],
  ['related', 'related', 'ObjectReference'],
  ['reportingComponent', 'reportingController'],
  ['reportingInstance', 'reportingInstance'],
];

/** What only the newer group asks for. */
function validateStrictly(event: Event): Errors {
  const unset = (path: string, isSet: boolean): Errors =>
    isSet ? [invalid(path, '', 'needs to be unset')] : [];
  const { series, type = '', source } = event;
  return [
    ...(series && (series.count ?? 0) < 2 ? [invalid('series.count', '', 'should be at least 2')] : []),
    ...(series && !series.lastObservedTime ? [required('series.lastObservedTime')] : []),
    ...(event.eventTime ? [] : [required('eventTime')]),
    ...(type === 'Normal' || type === 'Warning' ? [] : [invalid('type', '', `has invalid value: ${type}`)]),
    ...unset('firstTimestamp', !!event.firstTimestamp),
    ...unset('lastTimestamp', !!event.lastTimestamp),
    ...unset('count', (event.count ?? 0) !== 0),
    ...unset('source', !!source?.component || !!source?.host),
  ];
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

/** The same by the names of `events.k8s.io`. */
const newFields = (event: EventsV1Event): Record<string, string> => ({
  'regarding.kind': event.regarding?.kind ?? '',
  'regarding.namespace': event.regarding?.namespace ?? '',
  'regarding.name': event.regarding?.name ?? '',
  'regarding.uid': event.regarding?.uid ?? '',
  'regarding.apiVersion': event.regarding?.apiVersion ?? '',
  'regarding.resourceVersion': event.regarding?.resourceVersion ?? '',
  'regarding.fieldPath': event.regarding?.fieldPath ?? '',
  reason: event.reason ?? '',
  reportingController: event.reportingController ?? '',
  type: event.type ?? '',
});
const newFieldNames = Object.keys(newFields({ metadata: { name: '' }, eventTime: '' }));

export const eventStrategy = defineStrategy(Events, {
  nameCheck: () => [],
  allowCreateOnUpdate: true,
  default: (event) => fill(event, { involvedObject: {}, reportingComponent: '', reportingInstance: '' }),
  validate,
  validateUpdate: (event, old, { apiVersion }) => [
    ...validateLegacy(event, apiVersion),
    ...(apiVersion === 'v1'
      ? []
      : [...unchanged.flatMap(([field, name, type]) => immutable(name, event[field], old[field], type))]),
  ],
  ttlSeconds: () => ttl,
  selectableFieldNames: coreFieldNames,
  selectableFields: coreFields,
  tableCells: eventCells,
});

export const newEventStrategy = defineStrategy(Eventsv1Events, {
  nameCheck: () => [],
  allowCreateOnUpdate: true,
  validateUpdate: (event, old) => [
    ...immutable('regarding', event.regarding, old.regarding),
    ...immutable('eventTime', event.eventTime, old.eventTime),
  ],
  ttlSeconds: () => ttl,
  selectableFieldNames: newFieldNames,
  selectableFields: newFields,
  tableCells: newEventCells,
});
