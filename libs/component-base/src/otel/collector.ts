import { ROOT_CONTEXT, SpanStatusCode, trace, TraceFlags } from '@opentelemetry/api';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import type { FinishedStep } from '../tracing';
import { otlpRequest } from './otlp-json';

/**
 * Sends steps to an OpenTelemetry collector: OTLP over HTTP with JSON. Rejects when the collector does not take them.
 * See https://opentelemetry.io/docs/specs/otlp/#otlphttp
 */
export async function exportToCollector(options: {
  endpoint: string;
  component: string;
  steps: readonly FinishedStep[];
}): Promise<void> {
  const { endpoint, component, steps } = options;
  const response = await fetch(`${endpoint.replace(/\/$/, '')}/v1/traces`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(otlpRequest(component, toSpans(steps))),
  });
  if (!response.ok) throw new Error(`the collector at ${endpoint} answered ${response.status}`);
}

/** Steps as the SDK's spans, with their own identities and times. */
function toSpans(steps: readonly FinishedStep[]): ReadableSpan[] {
  const exporter = new InMemorySpanExporter();
  let current: FinishedStep | undefined;
  const provider = new BasicTracerProvider({
    spanProcessors: [new SimpleSpanProcessor(exporter)],
    // The identities were given when the steps ran, since others have referred to them since.
    idGenerator: {
      generateTraceId: () => current?.traceId ?? '',
      generateSpanId: () => current?.spanId ?? '',
    },
  });
  const tracer = provider.getTracer('tinkernetes');
  for (const step of steps) {
    current = step;
    const { traceId, parentSpanId } = step;
    const parent = parentSpanId
      ? trace.setSpanContext(ROOT_CONTEXT, {
          traceId,
          spanId: parentSpanId,
          traceFlags: TraceFlags.SAMPLED,
          isRemote: true,
        })
      : ROOT_CONTEXT;
    const span = tracer.startSpan(
      step.id,
      { startTime: new Date(step.startMs), attributes: attributesOf(step) },
      parent,
    );
    if (step.error) span.setStatus({ code: SpanStatusCode.ERROR, message: step.error });
    span.end(new Date(step.endMs));
  }
  return exporter.getFinishedSpans();
}

/** Names by OpenTelemetry's semantic conventions for Kubernetes where there is one. */
function attributesOf({ node, object, attributes }: FinishedStep): Record<string, string | number | boolean> {
  return {
    ...(node ? { 'k8s.node.name': node } : {}),
    ...(object
      ? {
          'k8s.object.kind': object.kind,
          'k8s.object.name': object.name,
          ...(object.namespace ? { 'k8s.namespace.name': object.namespace } : {}),
          ...(object.uid ? { 'k8s.object.uid': object.uid } : {}),
        }
      : {}),
    ...attributes,
  };
}
