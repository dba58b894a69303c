import type { IncomingMessage } from 'node:http';
import type { KubeObject } from '@tinkernetes/api';
import type { TraceParent } from '@tinkernetes/component-base';
import { LineSplitter } from './line-splitter';
import type { TraceContexts } from './trace-contexts';
import type { WatchEvent } from './types';

type WatchLine<T> = WatchEvent<T> & { traceparent?: TraceParent };

/** The events of an open watch response, until the server ends it or the signal aborts. */
export async function* watchEvents<T extends KubeObject>(
  response: IncomingMessage,
  traces: TraceContexts,
  signal?: AbortSignal,
): AsyncIterable<WatchEvent<T>> {
  const splitter = new LineSplitter();
  try {
    for await (const chunk of response) {
      for (const line of splitter.push(chunk as Buffer)) yield parseLine<T>(line, traces);
    }
    const rest = splitter.end();
    if (rest !== '') yield parseLine<T>(rest, traces);
  } catch (error) {
    if (!signal?.aborted) throw error;
  } finally {
    response.destroy();
  }
}

function parseLine<T extends KubeObject>(line: string, traces: TraceContexts): WatchEvent<T> {
  const event = JSON.parse(line) as WatchLine<T>;
  if (event.traceparent && event.type !== 'BOOKMARK' && event.type !== 'ERROR') {
    traces.set(event.object, event.traceparent);
  }
  return event;
}
