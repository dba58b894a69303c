import type { Event, EventsV1Event } from '@tinkernetes/api';
import { since } from './duration';

interface Common {
  lastTimestamp?: string | null;
  firstTimestamp?: string | null;
  eventTime?: string | null;
  series?: { lastObservedTime?: string; count?: number };
  count?: number;
}

function times(event: Common, now: number): { first: string; last: string; count: number } {
  const { series, eventTime } = event;
  const first = event.firstTimestamp ? since(event.firstTimestamp, now) : since(eventTime, now);
  const last = event.lastTimestamp ? since(event.lastTimestamp, now) : first;
  if (series) return { first, last: since(series.lastObservedTime, now), count: series.count ?? 0 };
  return { first, last, count: event.count && event.count > 0 ? event.count : 1 };
}

const target = (reference: { kind?: string; name?: string } | undefined): string => {
  const kind = (reference?.kind ?? '').toLowerCase();
  return reference?.name ? `${kind}/${reference.name}` : kind;
};

const sourceText = (component: string | undefined, host: string | undefined): string =>
  [component, host].filter(Boolean).join(', ');

/** Last Seen, Type, Reason, Object, Subobject, Source, Message, First Seen, Count, Name. */
export function eventCells(event: Event, now: number): unknown[] {
  const { first, last, count } = times(event, now);
  const { source, reportingComponent, reportingInstance } = event;
  return [
    last,
    event.type ?? '',
    event.reason ?? '',
    target(event.involvedObject),
    event.involvedObject.fieldPath ?? '',
    sourceText(source?.component || reportingComponent, source?.host || reportingInstance),
    (event.message ?? '').trim(),
    first,
    count,
    event.metadata.name,
  ];
}

/** As `eventCells`, of events.k8s.io. */
export function newEventCells(event: EventsV1Event, now: number): unknown[] {
  const { first, last, count } = times(
    {
      lastTimestamp: event.deprecatedLastTimestamp,
      firstTimestamp: event.deprecatedFirstTimestamp,
      eventTime: event.eventTime,
      series: event.series,
      count: event.deprecatedCount,
    },
    now,
  );
  return [
    last,
    event.type ?? '',
    event.reason ?? '',
    target(event.regarding),
    event.regarding?.fieldPath ?? '',
    sourceText(
      event.deprecatedSource?.component || event.reportingController,
      event.deprecatedSource?.host || event.reportingInstance,
    ),
    (event.note ?? '').trim(),
    first,
    count,
    event.metadata.name,
  ];
}
