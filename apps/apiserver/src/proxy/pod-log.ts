import type { IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { Pods } from '@tinkernetes/api';
import {
  badRequest,
  forbidden,
  invalid,
  invalidError,
  StatusError,
  type FieldError,
  notNegativeMessage,
} from '@tinkernetes/apimachinery';
import type { ApiRequest, HandlerDependencies, SubresourceHandler } from '../contracts';
import { containerOf } from './container-choice';
import type { KubeletConnections } from './kubelet-connection';

const passedOn = ['follow', 'previous', 'timestamps', 'sinceSeconds', 'sinceTime', 'tailLines', 'limitBytes'];

/** GET pods/NAME/log: the kubelet's answer, streamed. Source: k8s.io/kubernetes/pkg/registry/core/pod/rest.LogREST. */
export function createPodLogHandler(
  { stores }: HandlerDependencies,
  kubelets: KubeletConnections,
): SubresourceHandler {
  return async (request) => {
    const { name, namespace } = request.info;
    checkNumbers(request.query);
    const errors = validate(request.query);
    if (errors.length > 0) throw invalidError({ group: '', kind: 'PodLogOptions' }, name, errors);
    const pod = await stores.for(Pods).get(name, namespace);
    const container = containerOf(pod, request.query.get('container') ?? '');
    const nodeName = pod.spec?.nodeName;
    if (!nodeName) {
      // Nothing has run yet, so nothing has been said.
      request.response.writeHead(204).end();
      return;
    }
    const query = new URLSearchParams();
    for (const key of passedOn) {
      const value = request.query.get(key);
      if (value) query.set(key, value);
    }
    const suffix = query.size > 0 ? `?${query.toString()}` : '';
    const path = `/containerLogs/${namespace}/${name}/${container}${suffix}`;
    await streamFrom(await open(kubelets, request, { nodeName, path }), request);
  };
}

async function open(
  kubelets: KubeletConnections,
  { signal, info }: ApiRequest,
  { nodeName, path }: { nodeName: string; path: string },
): Promise<IncomingMessage> {
  const outgoing = await kubelets.request(nodeName, path, { signal });
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    outgoing.once('response', resolve);
    outgoing.once('error', (error) =>
      reject(
        new StatusError('Unknown', `Get "${outgoing.protocol}//${outgoing.host}${path}": ${error.message}`, {
          code: 500,
          cause: error,
        }),
      ),
    );
    outgoing.end();
  });
  if (answer.statusCode === 200) return answer;
  let text = '';
  for await (const chunk of answer.setEncoding('utf8')) text += String(chunk);
  throw refusal(answer.statusCode ?? 500, text.trim(), info.name);
}

/** Source: k8s.io/apimachinery/pkg/api/errors.NewGenericServerResponse. */
function refusal(code: number, text: string, name: string): StatusError {
  const details = { name, kind: 'pods/log', causes: [{ reason: 'UnexpectedServerResponse', message: text }] };
  switch (code) {
    case 400:
      return new StatusError('BadRequest', text, { details });
    case 404:
      return new StatusError(
        'NotFound',
        `the server could not find the requested resource ( pods/log ${name})`,
        {
          details,
        },
      );
    default:
      return new StatusError(
        'InternalError',
        `an error on the server (${JSON.stringify(text)}) has prevented the request from succeeding ( pods/log ${name})`,
        { details },
      );
  }
}

async function streamFrom(answer: IncomingMessage, { response, signal }: ApiRequest): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/plain' });
  response.flushHeaders();
  try {
    await pipeline(answer, response);
  } catch (error) {
    // The client has had enough, or the log's source has broken off: either way this answer is over.
    if (!signal.aborted) response.destroy(error instanceof Error ? error : undefined);
  }
}

/** Go's words for values that are no numbers or times. */
function checkNumbers(query: URLSearchParams): void {
  for (const field of ['tailLines', 'limitBytes', 'sinceSeconds']) {
    const text = query.get(field);
    if (text && !/^[+-]?\d+$/.test(text))
      throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
  }
  const time = query.get('sinceTime');
  if (time && !/^\d{4}-/.test(time))
    throw badRequest(
      `parsing time ${JSON.stringify(time)} as "2006-01-02T15:04:05Z07:00": cannot parse ${JSON.stringify(time)} as "2006"`,
    );
}

/** Source: core/validation.ValidatePodLogOptions. */
function validate(query: URLSearchParams): FieldError[] {
  const errors: FieldError[] = [];
  const check = (field: string, minimum: number, detail: string) => {
    const text = query.get(field);
    if (text !== null && Number(text) < minimum) errors.push(invalid(field, Number(text), detail));
  };
  check('tailLines', 0, notNegativeMessage);
  check('limitBytes', 1, 'must be greater than 0');
  check('sinceSeconds', 1, 'must be greater than 0');
  if (query.has('sinceSeconds') && query.has('sinceTime')) {
    errors.push(forbidden('[]', 'at most one of `sinceTime` or `sinceSeconds` may be specified'));
  }
  // Streams are told apart only behind a feature gate that is off: PodLogsQuerySplitStreams.
  if (query.get('stream')) errors.push(forbidden('stream', 'may not be specified'));
  return errors;
}
