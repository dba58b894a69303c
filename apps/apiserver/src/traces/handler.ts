import type { FinishedStep } from '@tinkernetes/component-base';
import { isObject, badRequest } from '@tinkernetes/apimachinery';
import { JsonSyntaxError } from '../codec/json-syntax-error';
import { parseJson } from '../codec/json-reader';
import type { ApiRequest, RequestInfo, UserInfo } from '../contracts';
import { readBody } from '../server/body';
import { sendJson } from '../server/respond';
import type { SpanCollector } from './span-collector';

const path = '/debug/tinkernetes/spans';

/** Components hand in spans whoever they are; reading them needs a right to the path. */
export const isSpanReport = (info: RequestInfo, user: UserInfo): boolean =>
  info.path === path && info.verb === 'post' && user.groups.includes('system:authenticated');

/** POST of finished spans, GET of those of an object or trace; false: another path. */
export async function serveSpans(
  collector: SpanCollector,
  request: ApiRequest,
  limit: number,
): Promise<boolean> {
  if (request.info.path !== path) return false;
  if (request.info.verb === 'post') {
    const steps = stepsIn(await readBody(request.raw, limit));
    collector.add(steps);
    sendJson(request.response, 200, { accepted: steps.length });
    return true;
  }
  const value = (name: string) => request.query.get(name) ?? undefined;
  const query = {
    traceId: value('traceId'),
    kind: value('kind'),
    namespace: value('namespace'),
    name: value('name'),
  };
  sendJson(request.response, 200, collector.find(query));
  return true;
}

function stepsIn(body: Buffer): FinishedStep[] {
  try {
    const value = valueOf(body.toString('utf8'));
    if (Array.isArray(value) && value.every(isStep)) return value;
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    throw badRequest(`spans: ${error.message}`, error);
  }
  throw badRequest('spans: must be a list of finished steps');
}

/** Components report much, in a form of their own: that no member is there twice need not be looked for. */
function valueOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return parseJson(text).value;
    throw error;
  }
}

function isStep(value: unknown): value is FinishedStep {
  const step = value as Partial<FinishedStep> | null;
  return (
    typeof step?.id === 'string' &&
    typeof step.traceId === 'string' &&
    typeof step.startMs === 'number' &&
    typeof step.endMs === 'number' &&
    isObject(step.attributes)
  );
}
