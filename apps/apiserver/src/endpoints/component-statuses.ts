import * as http from 'node:http';
import * as https from 'node:https';
import type { ComponentCondition, ComponentStatus, KubeObject } from '@tinkernetes/api';
import { notFound } from '@tinkernetes/apimachinery';
import { CacheEntry } from '../cacher/cache-entry';
import { createStoredCodec, storedBytes } from '../registry/generic/stored-codec';
import { describeDialError } from '../webhooks/dial-errors';
import { hasProtobuf, sendEntry } from './answer';
import type { Endpoint, EndpointContext } from './context';
import { sendList } from './list-answer';
import { negotiate } from './negotiation';
import { selectionOf } from './selection';
import { includeObjectOf } from './table';

const timeoutMs = 20_000;

type Finding = Pick<ComponentCondition, 'status' | 'message'>;

/**
 * Whether the control plane's parts are well: asked when somebody asks. Source:
 * k8s.io/kubernetes/pkg/registry/core/componentstatus.
 */
export const componentStatuses: Endpoint = async (context, request) => {
  const checks = checksOf(context);
  const { name, parts } = request.info;
  if (parts.length > 1) {
    const check = checks.get(name);
    if (!check) throw notFound({ group: '', resource: 'componentstatus' }, name);
    await sendEntry(context, request, 200, entryOf(await statusOf(name, check)));
    return;
  }
  const negotiated = negotiate(request.raw.headers.accept, { protobuf: hasProtobuf(request), scope: 'list' });
  const selection = selectionOf(request);
  const all = await Promise.all([...checks].map(async ([n, check]) => entryOf(await statusOf(n, check))));
  const entries = all.filter(
    (entry) =>
      (selection.name === undefined || selection.name === entry.name) &&
      (!selection.selective || selection.matches(entry)),
  );
  const includeObject = negotiated.transform === 'Table' ? includeObjectOf(request.query) : '';
  await sendList(context, request, { entries, meta: { resourceVersion: '' } }, { negotiated, includeObject });
};

type Check = () => Promise<Finding>;

function checksOf({ options, storage, clock }: EndpointContext): ReadonlyMap<string, Check> {
  const components = options.componentHealth.map(
    ({ name, url }) => [name, () => askHealth(url, clock)] as const,
  );
  // Whatever the storage is, this is what it is called.
  return new Map([
    ...components,
    ['etcd-0', () => storage.currentRevision().then(() => healthy('ok'), unhealthy)],
  ]);
}

const healthy = (message: string): Finding => ({ status: 'True', message });
const unhealthy = (error: unknown): Finding => ({ status: 'False', message: describeDialError(error) });

async function askHealth(url: string, clock: EndpointContext['clock']): Promise<Finding> {
  const cancel = new AbortController();
  const timer = clock.setTimeout(() => cancel.abort(new Error('context deadline exceeded')), timeoutMs);
  try {
    const { code, body } = await get(url, cancel.signal);
    return code >= 200 && code < 400
      ? healthy(body)
      : { status: 'False', message: `HTTP probe failed with statuscode: ${code}` };
  } catch (error) {
    const cause: unknown = cancel.signal.aborted ? cancel.signal.reason : error;
    return { status: 'False', message: `Get "${url}": ${describeDialError(cause)}` };
  } finally {
    timer.cancel();
  }
}

/** `unix:PATH` stands for `/healthz` at that socket. */
function get(url: string, signal: AbortSignal): Promise<{ code: number; body: string }> {
  const socketPath = /^unix:(.+)$/.exec(url)?.[1];
  return new Promise((resolve, reject) => {
    const read = (response: http.IncomingMessage) => {
      let body = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => (body += chunk));
      response.on('end', () => resolve({ code: response.statusCode ?? 0, body: body.trim() }));
      response.on('error', reject);
    };
    const request = socketPath
      ? http.get({ socketPath, path: '/healthz', signal, agent: false }, read)
      : url.startsWith('https:')
        ? https.get(url, { signal, agent: false, rejectUnauthorized: false }, read)
        : http.get(url, { signal, agent: false }, read);
    request.on('error', reject);
  });
}

async function statusOf(name: string, check: Check): Promise<ComponentStatus & KubeObject> {
  return {
    kind: 'ComponentStatus',
    apiVersion: 'v1',
    metadata: { name },
    conditions: [{ type: 'Healthy', ...(await check()) }],
  };
}

const codec = createStoredCodec({ storage: { group: '', version: 'v1' }, convert: (object) => object });

const entryOf = (object: KubeObject): CacheEntry =>
  new CacheEntry(
    { namespace: '', name: object.metadata.name, revision: 0, value: storedBytes(object) },
    { codec: () => codec },
  );
