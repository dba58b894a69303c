import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Pods, type Pod } from '@tinkernetes/api';
import { isConflict, isExpired, StatusError } from '@tinkernetes/apimachinery';
import { createMetrics } from '@tinkernetes/component-base';
import { eventually, VirtualClock } from '@tinkernetes/component-base/testing';
import { createClient } from './client';
import type { Client, ClientConfig } from './types';

interface Seen {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: unknown;
}
type Handler = (seen: Seen, response: ServerResponse) => void;

describe('createClient', () => {
  let server: Server;
  let client: Client;
  let requests: Seen[];
  let handler: Handler;
  let config: ClientConfig;

  beforeEach(async () => {
    requests = [];
    server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        const { method = '', url = '', headers } = request;
        const seen = { method, url, headers, body: text === '' ? undefined : (JSON.parse(text) as unknown) };
        requests.push(seen);
        handler(seen, response);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    config = {
      server: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      userAgent: 'test/1',
      token: 'secret',
    };
    client = createClient(config);
  });
  afterEach(async () => {
    client.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const json = (response: ServerResponse, value: unknown, code = 200, headers = {}) => {
    response.writeHead(code, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(value));
  };
  const pod = (name: string): Pod => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', uid: `uid-${name}`, resourceVersion: '5' },
    spec: { containers: [] },
  });
  const pods = () => client.for(Pods);

  it.each<[string, () => Promise<unknown>, string, string, unknown]>([
    [
      'get',
      () => pods().get('a', { namespace: 'default' }),
      'GET',
      '/api/v1/namespaces/default/pods/a',
      undefined,
    ],
    [
      'create',
      () =>
        pods().create(
          { metadata: { generateName: 'a-', namespace: 'x' }, spec: { containers: [] } },
          { fieldManager: 'me' },
        ),
      'POST',
      '/api/v1/namespaces/x/pods?fieldManager=me',
      {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { generateName: 'a-', namespace: 'x' },
        spec: { containers: [] },
      },
    ],
    ['update', () => pods().update(pod('a')), 'PUT', '/api/v1/namespaces/default/pods/a', pod('a')],
    [
      'updateStatus',
      () => pods().updateStatus(pod('a')),
      'PUT',
      '/api/v1/namespaces/default/pods/a/status',
      pod('a'),
    ],
    [
      'patch',
      () => pods().patch('a', { spec: {} }, { type: 'merge', namespace: 'default', subresource: 'status' }),
      'PATCH',
      '/api/v1/namespaces/default/pods/a/status',
      { spec: {} },
    ],
    [
      'delete',
      () => pods().delete('a', { namespace: 'default', gracePeriodSeconds: 0, preconditions: { uid: 'u' } }),
      'DELETE',
      '/api/v1/namespaces/default/pods/a',
      { apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds: 0, preconditions: { uid: 'u' } },
    ],
    [
      'subresource',
      () => pods().subresource('POST', 'a', 'binding', { target: {} }, { namespace: 'default' }),
      'POST',
      '/api/v1/namespaces/default/pods/a/binding',
      { target: {} },
    ],
  ])('sends %s as the API expects it', async (_, call, method, url, body) => {
    handler = (_seen, response) => json(response, pod('a'));
    await call();
    expect(requests).toMatchObject([
      { method, url, headers: { authorization: 'Bearer secret', 'user-agent': 'test/1' } },
    ]);
    expect(requests[0]?.body).toEqual(body);
  });

  it('counts requests by their answers, and those that got none', async () => {
    const metrics = createMetrics();
    const counted = createClient(config, { metrics });
    handler = (_, response) => json(response, { kind: 'Status', code: 404, reason: 'NotFound' }, 404);
    await expect(counted.for(Pods).get('a', { namespace: 'default' })).rejects.toThrow(StatusError);
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await expect(counted.for(Pods).get('a', { namespace: 'default' })).rejects.toThrow('ECONNREFUSED');
    counted.close();
    const { host } = new URL(config.server);
    const text = await metrics.expose();
    expect(text).toContain(`rest_client_requests_total{code="404",method="GET",host="${host}"} 1`);
    expect(text).toContain(`rest_client_requests_total{code="<error>",method="GET",host="${host}"} 1`);
    expect(text).toContain(`rest_client_request_duration_seconds_count{verb="GET",host="${host}"} 2`);
  });

  it('sends patches under their content type', async () => {
    handler = (_seen, response) => json(response, pod('a'));
    await pods().patch('a', {}, { type: 'apply', namespace: 'default', fieldManager: 'me', force: true });
    expect(requests[0]).toMatchObject({
      url: '/api/v1/namespaces/default/pods/a?fieldManager=me&force=true',
      headers: { 'content-type': 'application/apply-patch+yaml' },
    });
  });

  it('gives list items their type, as lists leave it out', async () => {
    handler = (_seen, response) =>
      json(response, { metadata: { resourceVersion: '9' }, items: [{ metadata: { name: 'a' } }] });
    const list = await pods().list({ namespace: 'default', labelSelector: 'a=b', resourceVersion: '0' });
    expect(list.metadata.resourceVersion).toBe('9');
    expect(list.items).toEqual([{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' } }]);
    expect(requests[0]?.url).toBe('/api/v1/namespaces/default/pods?labelSelector=a%3Db&resourceVersion=0');
  });

  it('rejects with the Status that the server sent', async () => {
    handler = (_seen, response) =>
      json(
        response,
        { kind: 'Status', status: 'Failure', reason: 'Conflict', code: 409, message: 'too old' },
        409,
      );
    const error = await pods()
      .update(pod('a'))
      .catch((e: unknown) => e);
    expect(isConflict(error)).toBe(true);
    expect((error as Error).message).toBe('too old');
  });

  it('makes a Status of an answer that has none', async () => {
    handler = (_seen, response) => response.writeHead(503).end('backend away');
    await expect(pods().get('a')).rejects.toMatchObject({
      reason: 'ServiceUnavailable',
      code: 503,
      message: 'backend away',
    });
  });

  it('asks again when the server says when', async () => {
    const clock = new VirtualClock();
    client.close();
    client = createClient(config, { clock });
    let calls = 0;
    handler = (_seen, response) =>
      ++calls === 1 ? json(response, {}, 429, { 'retry-after': '3' }) : json(response, pod('a'));
    const getting = pods().get('a', { namespace: 'default' });
    while (clock.timers === 0) await new Promise((resolve) => setImmediate(resolve));
    await clock.advance(3000);
    expect((await getting).metadata.name).toBe('a');
    expect(calls).toBe(2);
  });

  it('yields watch events with their trace contexts beside them', async () => {
    const trace = '00-11111111111111111111111111111111-2222222222222222-01';
    client.close();
    client = createClient({ ...config, traces: true });
    handler = (_seen, response) => {
      response.write(
        `${JSON.stringify({ type: 'ADDED', object: pod('a'), traceparent: trace })}\n{"type":"BOOK`,
      );
      setTimeout(() => response.end('MARK","object":{"metadata":{"resourceVersion":"8"}}}\n'), 5);
    };
    const events = [];
    for await (const event of pods().watch({ resourceVersion: '5', allowWatchBookmarks: true }))
      events.push(event);
    expect(events).toEqual([
      { type: 'ADDED', object: pod('a'), traceparent: trace },
      { type: 'BOOKMARK', object: { metadata: { resourceVersion: '8' } } },
    ]);
    expect(client.traceOf(events[0]?.object as Pod)).toBe(trace);
    expect(requests[0]).toMatchObject({
      url: '/api/v1/pods?watch=true&resourceVersion=5&allowWatchBookmarks=true',
      headers: { 'x-tinkernetes-trace': '1' },
    });
  });

  it('ends a watch quietly when its signal aborts, and closes its connection', async () => {
    const stop = new AbortController();
    const closed = new Promise<void>((resolve) => {
      handler = (_seen, response) => {
        response.on('close', resolve);
        response.write(`${JSON.stringify({ type: 'ADDED', object: pod('a') })}\n`);
      };
    });
    const names = [];
    for await (const event of pods().watch({ signal: stop.signal })) {
      names.push(event.type);
      stop.abort(new Error('enough'));
    }
    await closed;
    expect(names).toEqual(['ADDED']);
  });

  it('rejects a watch that is refused', async () => {
    handler = (_seen, response) =>
      json(
        response,
        { kind: 'Status', status: 'Failure', reason: 'Expired', code: 410, message: 'too old' },
        410,
      );
    const watch = async () => {
      for await (const event of pods().watch({ resourceVersion: '1' })) throw new Error(event.type);
    };
    const error = await watch().catch((e: unknown) => e);
    expect(isExpired(error)).toBe(true);
  });

  it("rejects with the signal's own reason", async () => {
    const stop = new AbortController();
    const reason = new Error('shutting down');
    handler = () => stop.abort(reason);
    await expect(pods().get('a', { signal: stop.signal })).rejects.toBe(reason);
    await expect(pods().get('a', { signal: stop.signal })).rejects.toBe(reason);
  });

  it('takes traces from lists, and sends the one of a write', async () => {
    const trace = '00-11111111111111111111111111111111-3333333333333333-01';
    handler = (_seen, response) =>
      json(response, { metadata: {}, items: [pod('a')], traces: { 'uid-a': trace } });
    const [first] = (await pods().list()).items;
    expect(client.traceOf(first as Pod)).toBe(trace);
    handler = (_seen, response) => json(response, pod('a'));
    await pods().update(first as Pod, { trace });
    expect(requests[1]?.headers['traceparent']).toBe(trace);
  });

  it('repeats a read when the server closed the kept connection, never a write', async () => {
    handler = (_seen, response) => json(response, pod('a'));
    await pods().get('a');
    let dropped = 0;
    handler = (_seen, response) => {
      if (dropped++ === 0) response.socket?.destroy();
      else json(response, pod('b'));
    };
    expect((await pods().get('a')).metadata.name).toBe('b');
    dropped = 0;
    await expect(pods().update(pod('a'))).rejects.not.toBeInstanceOf(StatusError);
  });

  it('answers any path as text', async () => {
    handler = (_seen, response) => response.end('ok');
    expect(await client.requestText({ method: 'GET', path: '/healthz' })).toBe('ok');
  });

  it('opens no more than 32 connections for a burst, and still watches beside it', async () => {
    const waiting: ServerResponse[] = [];
    handler = ({ url }, response) => {
      if (url.includes('watch=')) response.writeHead(200).write('');
      else waiting.push(response);
    };
    const gets = Array.from({ length: 40 }, (_, i) => client.for(Pods).get(`p-${i}`, { namespace: 'a' }));
    const stop = new AbortController();
    // (The number alone: to print 32 responses takes Jest seconds.)
    await eventually(() => expect(waiting.length).toBe(32));
    const watching = client.for(Pods).watch({ signal: stop.signal })[Symbol.asyncIterator]().next();
    await eventually(() => expect(requests.some(({ url }) => url.includes('watch='))).toBe(true));
    handler = (_, response) => void response.end('{"metadata":{"name":"x"}}');
    for (const response of waiting) response.end('{"metadata":{"name":"x"}}');
    await expect(Promise.all(gets)).resolves.toHaveLength(40);
    stop.abort(new Error('test is over'));
    expect((await watching).done).toBe(true);
  });
});
