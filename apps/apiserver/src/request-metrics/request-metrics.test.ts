import { request } from 'node:https';
import type { IncomingMessage } from 'node:http';
import { eventually } from '@tinkernetes/component-base/testing';
import { startApiServer, type TestApiServer } from '@tinkernetes/testing';

const configMaps = '/api/v1/namespaces/default/configmaps';
const json = { 'Content-Type': 'application/json' };

/** In upstream's order of labels, without those of all configmaps. */
const series = (name: string, labels: string): string => {
  const [verb = '', scope = '', rest = ''] = labels.split(' ');
  const route = `verb="${verb}",group="",version="v1",resource="configmaps",subresource="",scope="${scope}",component="apiserver"`;
  return `${name}{${route}${rest}}`;
};

describe('metrics of requests', () => {
  let server: TestApiServer;

  beforeAll(async () => {
    server = await startApiServer();
  });
  afterAll(() => server.stop());

  function open(
    path: string,
    { method = 'GET', headers = {}, body = '' }: { method?: string; headers?: object; body?: string } = {},
  ): Promise<IncomingMessage> {
    const { caData: ca, certData: cert, keyData: key } = server.adminConfig;
    return new Promise((resolve, reject) => {
      const req = request(server.server + path, {
        ca,
        cert,
        key,
        method,
        headers: { ...headers },
        agent: false,
      });
      req.on('response', resolve).on('error', reject).end(body);
    });
  }
  const send = async (path: string, options?: Parameters<typeof open>[1]): Promise<string> =>
    (await (await open(path, options)).setEncoding('utf8').toArray()).join('');
  const shown = async (): Promise<string[]> => (await send('/metrics')).split('\n');
  const object = (name: string) =>
    JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });

  it('count what reached a handler, by verb, scope, dry run and code', async () => {
    await send(configMaps, { method: 'POST', headers: json, body: object('a') });
    await send(`${configMaps}?dryRun=All`, { method: 'POST', headers: json, body: object('b') });
    await send(configMaps, { method: 'POST', headers: json, body: object('a') });
    await send(`${configMaps}/a?fieldManager=m`, {
      method: 'PATCH',
      headers: { 'Content-Type': 'application/apply-patch+yaml' },
      body: object('a'),
    });
    await send(`${configMaps}/a`);
    await send(`${configMaps}/none`);
    await send(configMaps);
    await send(configMaps, { method: 'PUT', headers: json });
    await send('/api/v1/nothings');
    await send('/healthz');
    // A request is counted just after its answer.
    const expected = [
      `${series('apiserver_request_total', 'POST resource ,dry_run="",code="201"')} 1`,
      `${series('apiserver_request_total', 'POST resource ,dry_run="All",code="201"')} 1`,
      `${series('apiserver_request_total', 'POST resource ,dry_run="",code="409"')} 1`,
      `${series('apiserver_request_total', 'APPLY resource ,dry_run="",code="200"')} 1`,
      `${series('apiserver_request_total', 'GET resource ,dry_run="",code="200"')} 1`,
      `${series('apiserver_request_total', 'GET resource ,dry_run="",code="404"')} 1`,
      `${series('apiserver_request_total', 'LIST namespace ,dry_run="",code="200"')} 1`,
      `${series('apiserver_request_duration_seconds_count', 'GET resource ,dry_run=""')} 2`,
      `${series('apiserver_response_sizes_count', 'LIST namespace ')} 1`,
      'apiserver_request_total{verb="GET",group="",version="",resource="",subresource="/healthz",scope="",component="",dry_run="",code="200"} 1',
    ];
    await eventually(async () => {
      const lines = new Set(await shown());
      return expected.every((line) => lines.has(line));
    });
    const text = (await shown()).join('\n');
    expect(text).not.toContain('verb="PUT",group="",version="v1",resource="configmaps"');
    expect(text).not.toContain('nothings');
    expect(text).toMatch(/^apiserver_resource_objects\{group="",resource="configmaps"\} \d+$/m);
    expect(text).toMatch(/^authentication_attempts\{result="success"\} \d+$/m);
    expect(text).toMatch(/^authenticated_user_requests\{username="other"\} \d+$/m);
  });

  it('tell what lasts while it lasts, and its events', async () => {
    const running = series('apiserver_longrunning_requests', 'WATCH namespace ');
    const secrets = (line: string) => line.replace('"configmaps"', '"secrets"');
    const watch = await open('/api/v1/namespaces/default/secrets?watch=1');
    try {
      const body = JSON.stringify({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' } });
      await send('/api/v1/namespaces/default/secrets', { method: 'POST', headers: json, body });
      await eventually(async () => {
        const lines = new Set(await shown());
        return (
          lines.has(secrets(`${running} 1`)) &&
          lines.has('apiserver_watch_events_total{group="",version="v1",resource="secrets"} 1')
        );
      });
    } finally {
      watch.on('error', () => undefined).destroy();
    }
    const counted = series('apiserver_request_total', 'WATCH namespace ,dry_run="",code="200"');
    await eventually(async () => {
      const lines = new Set(await shown());
      return lines.has(secrets(`${running} 0`)) && lines.has(secrets(`${counted} 1`));
    });
  });

  it('tell how often nobody could be authenticated', async () => {
    const anonymous = new Promise<number | undefined>((resolve, reject) => {
      const headers = { Authorization: 'Bearer wrong' };
      request(`${server.server}/api`, { headers, agent: false, rejectUnauthorized: false }, (response) => {
        response.resume();
        resolve(response.statusCode);
      })
        .on('error', reject)
        .end();
    });
    expect(await anonymous).toBe(401);
    expect(await shown()).toContain('authentication_attempts{result="error"} 1');
  });
});
