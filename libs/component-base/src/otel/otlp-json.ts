import type { HrTime } from '@opentelemetry/api';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';

/** The JSON form of an OTLP ExportTraceServiceRequest (opentelemetry-proto, trace/v1). */
export function otlpRequest(serviceName: string, spans: readonly ReadableSpan[]): object {
  return {
    resourceSpans: [
      {
        resource: { attributes: [keyValue('service.name', serviceName)] },
        scopeSpans: [{ scope: { name: 'tinkernetes' }, spans: spans.map(otlpSpan) }],
      },
    ],
  };
}

function otlpSpan(span: ReadableSpan): object {
  const { traceId, spanId } = span.spanContext();
  return {
    traceId,
    spanId,
    parentSpanId: span.parentSpanContext?.spanId,
    name: span.name,
    // OTLP counts kinds from 1, the API from 0.
    kind: span.kind + 1,
    startTimeUnixNano: nanos(span.startTime),
    endTimeUnixNano: nanos(span.endTime),
    attributes: Object.entries(span.attributes).map(([key, value]) => keyValue(key, value)),
    status: span.status,
  };
}

function nanos([seconds, nanoseconds]: HrTime): string {
  return String(BigInt(seconds) * 1_000_000_000n + BigInt(nanoseconds));
}

function keyValue(key: string, value: unknown): object {
  if (typeof value === 'boolean') return { key, value: { boolValue: value } };
  if (typeof value === 'number') {
    return { key, value: Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value } };
  }
  return { key, value: { stringValue: String(value) } };
}
