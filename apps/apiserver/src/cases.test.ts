import { request as httpsRequest, Agent } from 'node:https';
import type { IncomingMessage } from 'node:http';
import { createInterface } from 'node:readline';
import { realClock } from '@tinkernetes/component-base';
import { eventually } from '@tinkernetes/component-base/testing';
import { createMemoryStorage, type Storage } from '@tinkernetes/storage';
import { startApiServer, type TestApiServer } from '@tinkernetes/testing';

interface Answer {
  code: number;
  warnings: string[];
  body: Body;
}

interface Body {
  code?: number;
  reason?: string;
  message?: string;
  metadata: {
    name?: string;
    generateName?: string;
    generation?: number;
    resourceVersion?: string;
    continue?: string;
    remainingItemCount?: number;
    annotations?: Record<string, string>;
    managedFields?: {
      manager: string;
      operation: string;
      fieldsV1: { 'f:data'?: object };
    }[];
  };
  items?: { metadata: { name: string } }[];
  spec?: Record<string, unknown>;
  data?: Record<string, string>;
  status?: unknown;
}

interface WatchEvent {
  type: string;
  object: Body & Record<string, unknown>;
}

describe('public cases', () => {
  let storage: Storage;
  let server: TestApiServer;
  let agent: Agent;
  beforeAll(async () => {
    storage = await createMemoryStorage({ clock: realClock });
    server = await startApiServer({ storage });
    const { caData: ca, certData: cert, keyData: key } = server.adminConfig;
    agent = new Agent({ ca, cert, key, keepAlive: true });
  });
  afterAll(async () => {
    agent.destroy();
    await server.stop();
    await storage.close();
  });

  const open = (method: string, path: string, body?: string, contentType = 'application/json') =>
    new Promise<IncomingMessage>((resolve, reject) => {
      const headers = body === undefined ? {} : { 'content-type': contentType };
      httpsRequest(server.server + path, { method, agent, headers }, resolve)
        .on('error', reject)
        .end(body);
    });

  async function send(method: string, path: string, body?: unknown, contentType?: string): Promise<Answer> {
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
    const response = await open(method, path, text, contentType);
    let answer = '';
    for await (const chunk of response.setEncoding('utf8')) answer += String(chunk);
    return {
      code: response.statusCode ?? 0,
      warnings: [response.headers.warning ?? []].flat(),
      body: JSON.parse(answer) as Body,
    };
  }

  /** The first `count` events of a watch. */
  async function eventsOf(path: string, count: number): Promise<WatchEvent[]> {
    const response = await open('GET', path);
    const events: WatchEvent[] = [];
    for await (const line of createInterface({ input: response })) {
      events.push(JSON.parse(line) as WatchEvent);
      if (events.length === count) break;
    }
    response.destroy();
    return events;
  }

  async function namespace(name: string): Promise<string> {
    const object = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
    expect((await send('POST', '/api/v1/namespaces', object)).code).toBe(201);
    return `/api/v1/namespaces/${name}/configmaps`;
  }

  const configMap = (metadata: object) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata });

  it('C01: Service ports merge by port alone, and are applied by port and protocol', async () => {
    const path = '/api/v1/namespaces/default/services';
    const strategic = 'application/strategic-merge-patch+json';
    const service = (name: string, ports: object[]) => ({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name },
      spec: { ports },
    });
    const tcp = { name: 't', port: 53, protocol: 'TCP' };
    const udp = { name: 'u', port: 53, protocol: 'UDP' };
    const portsOf = ({ body }: Answer) =>
      (body.spec?.ports as { name: string; protocol: string }[]).map(({ name, protocol }) => [
        name,
        protocol,
      ]);
    await send('POST', path, service('dnsish', [tcp]));
    const order = [{ port: 53 }, { port: 53 }];
    const merged = { spec: { '$setElementOrder/ports': order, ports: [tcp, udp] } };
    const patched = await send('PATCH', `${path}/dnsish`, merged, strategic);
    expect(patched.code === 200 ? portsOf(patched).length : patched.code).toBe(1);

    const twins = [
      { name: 't', port: 443, protocol: 'TCP', targetPort: 8443 },
      { name: 'q', port: 443, protocol: 'UDP', targetPort: 8443 },
    ];
    const twin = await send('POST', path, service('twin', twins));
    expect(portsOf(twin)).toEqual([
      ['t', 'TCP'],
      ['q', 'UDP'],
    ]);
    const both = { spec: { ports: twins.map((port) => ({ ...port, targetPort: 9443 })) } };
    const refused = await send('PATCH', `${path}/twin`, both, strategic);
    expect([refused.code, refused.body.message]).toEqual([
      422,
      expect.stringMatching(/spec\.ports\[1\].*Duplicate value/),
    ]);
    expect((await send('GET', `${path}/twin`)).body.metadata).toEqual(twin.body.metadata);

    await send('POST', path, service('applied', [tcp]));
    const applied = await send(
      'PATCH',
      `${path}/applied?fieldManager=kubectl&force=true`,
      service('applied', [tcp, udp]),
      'application/apply-patch+yaml',
    );
    expect(portsOf(applied)).toEqual([
      ['t', 'TCP'],
      ['u', 'UDP'],
    ]);
  });

  it('C03: who applies owns, shares and gives up fields under name and operation', async () => {
    const path = '/api/v1/namespaces/default/configmaps/cfg';
    const apply = (manager: string, data: object, more = '') =>
      send(
        'PATCH',
        `${path}?fieldManager=${manager}${more}`,
        { ...configMap({ name: 'cfg' }), data },
        'application/apply-patch+yaml',
      );
    const merge = 'application/merge-patch+json';
    const owners = ({ body }: Answer) =>
      body.metadata.managedFields?.map(({ manager, operation, fieldsV1 }) => [
        `${manager} ${operation}`,
        Object.keys(fieldsV1['f:data'] ?? {})
          .filter((key) => key !== '.')
          .join(),
      ]);
    const both = { one: '1', two: '2' };
    const first = await apply('alpha', both);
    expect((await apply('alpha', both)).body.metadata).toEqual(first.body.metadata);
    const updated = await send('PATCH', `${path}?fieldManager=alpha`, { data: { two: 'X' } }, merge);
    expect(owners(updated)).toEqual([
      ['alpha Apply', 'f:one'],
      ['alpha Update', 'f:two'],
    ]);
    expect(await apply('alpha', both)).toMatchObject({
      code: 409,
      body: {
        message: 'Apply failed with 1 conflict: conflict with "alpha" using v1: .data.two',
        details: {
          causes: [
            { reason: 'FieldManagerConflict', field: '.data.two', message: 'conflict with "alpha" using v1' },
          ],
        },
      },
    });
    expect(owners(await apply('alpha', both, '&force=true'))).toEqual([['alpha Apply', 'f:one,f:two']]);
    expect((await apply('beta', { one: '1' })).code).toBe(200);
    expect((await apply('alpha', { two: '2' })).body.data).toEqual(both);
    expect((await apply('beta', {})).body.data).toEqual({ two: '2' });

    const bare = await send('PATCH', path, configMap({ name: 'cfg' }), 'application/apply-patch+yaml');
    const managed = await send(
      'PATCH',
      `${path}?fieldManager=alpha`,
      configMap({ name: 'cfg', managedFields: [{ manager: 'x' }] }),
      'application/apply-patch+yaml',
    );
    const forced = await send('PATCH', `${path}?force=true`, { data: {} }, merge);
    expect([bare, managed, forced].map(({ code, body }) => [code, body.message])).toEqual([
      [422, expect.stringContaining('fieldManager: Required value: is required for apply patch')],
      [400, expect.stringContaining('metadata.managedFields must be nil')],
      [422, expect.stringContaining('force: Forbidden: may not be specified for non-apply patch')],
    ]);
  });

  it.each([
    ['metadata is', 'null-metadata', null],
    ['name is', 'null-name', { name: null, uid: null }],
  ])(
    'applies a configuration whose %s null to what is there, and makes nothing of it',
    async (_, inNamespace, metadata) => {
      const collection = await namespace(inNamespace);
      const applied = () =>
        send(
          'PATCH',
          `${collection}/cfg?fieldManager=m`,
          { ...configMap({}), metadata },
          'application/apply-patch+yaml',
        );
      const missing = await applied();
      await send('POST', collection, { ...configMap({}), metadata: { name: 'cfg' } });
      const there = await applied();
      expect([missing.code, there.code]).toEqual([400, 200]);
    },
  );

  describe('C05: a streaming list', () => {
    const streaming = '?watch=1&sendInitialEvents=true&allowWatchBookmarks=true';

    it('C05: ends its initial events with one annotated bookmark, also of nothing', async () => {
      const path = await namespace('c05');
      const watch = `${path}${streaming}&resourceVersionMatch=NotOlderThan`;
      const marked = { type: 'BOOKMARK', object: { kind: 'ConfigMap', apiVersion: 'v1' } };
      const [nothing] = await eventsOf(watch, 1);
      expect(nothing).toMatchObject(marked);
      for (const name of ['a', 'b', 'c'])
        expect((await send('POST', path, { ...configMap({ name }), data: { name } })).code).toBe(201);
      const events = await eventsOf(watch, 4);
      expect(events.map(({ type }) => type)).toEqual(['ADDED', 'ADDED', 'ADDED', 'BOOKMARK']);
      const bookmark = events.at(-1)?.object;
      expect(bookmark?.metadata.annotations).toEqual({ 'k8s.io/initial-events-end': 'true' });
      expect(bookmark).not.toHaveProperty('data');
      const versions = events.map(({ object }) => Number(object.metadata.resourceVersion));
      expect(versions.at(-1)).toBe(Math.max(...versions));
    });

    it.each([
      [streaming, 'resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch'],
      [`${streaming}&resourceVersionMatch=Exact`, 'resourceVersionMatch: Unsupported value: "Exact"'],
      [
        '?sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=0',
        'sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list',
      ],
      [
        '?watch=1&resourceVersionMatch=NotOlderThan&resourceVersion=1',
        'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
      ],
    ])('C05: refuses %s', async (query, message) => {
      const { code, body } = await send('GET', `/api/v1/namespaces/default/configmaps${query}`);
      expect([code, body.message]).toEqual([422, expect.stringContaining(message)]);
    });
  });

  it('C07: pages show one revision, and an expired token brings one for the rest', async () => {
    const path = await namespace('c07');
    for (const name of 'abcdefg') await send('POST', path, configMap({ name, labels: { of: 'c07' } }));
    const names = ({ body }: Answer) => body.items?.map(({ metadata }) => metadata.name).join('');
    const first = await send('GET', `${path}?limit=3`);
    const next = (page: Answer) =>
      `${path}?limit=3&continue=${encodeURIComponent(page.body.metadata.continue ?? '')}`;
    expect((await send('DELETE', `${path}/e`)).code).toBe(200);
    expect((await send('POST', path, configMap({ name: 'z' }))).code).toBe(201);
    const second = await send('GET', next(first));
    const third = await send('GET', next(second));
    expect([first, second, third].map(names)).toEqual(['abc', 'def', 'g']);
    expect([first, second, third].map(({ body }) => body.metadata.remainingItemCount)).toEqual([
      4,
      1,
      undefined,
    ]);
    expect(third.body.metadata.continue).toBeUndefined();
    expect(new Set([first, second, third].map(({ body }) => body.metadata.resourceVersion)).size).toBe(1);
    const selected = await send('GET', `${path}?limit=3&labelSelector=of%3Dc07`);
    expect(selected.body.metadata.remainingItemCount).toBeUndefined();

    const garbage = await send('GET', `${path}?limit=3&continue=garbage`);
    expect([garbage.code, garbage.body.message]).toEqual([
      400,
      expect.stringContaining('continue key is not valid'),
    ]);
    const both = await send('GET', `${next(first)}&resourceVersion=5`);
    expect([both.code, both.body.message]).toEqual([
      400,
      expect.stringContaining('specifying resource version is not allowed when using continue'),
    ]);

    await storage.compact(Number((await send('GET', path)).body.metadata.resourceVersion));
    const expired = await send('GET', next(first));
    expect(expired).toMatchObject({
      code: 410,
      body: {
        reason: 'Expired',
        message: expect.stringMatching(
          /^The provided continue parameter is too old to display a consistent list/,
        ),
      },
    });
    expect(names(await send('GET', next(expired)))).toBe('dfg');
  });

  describe('C09: unknown and duplicate fields', () => {
    const path = '/apis/apps/v1/namespaces/default/deployments';
    const json = (name: string) =>
      `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"${name}"},"spec":{"replicsa":3,"replicas":1,"replicas":2,` +
      `"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`;
    const both = ['unknown field "spec.replicsa"', 'duplicate field "spec.replicas"'];

    it('C09: Strict refuses both at once', async () => {
      const { code, body } = await send('POST', `${path}?fieldValidation=Strict`, json('strict'));
      expect([code, body.reason]).toEqual([400, 'BadRequest']);
      expect(body.message).toContain('strict decoding error: ');
      for (const text of both) expect(body.message).toContain(text);
    });

    it.each([['?fieldValidation=Warn'], ['']])('C09: warns of each with "%s"', async (query) => {
      const { code, body, warnings } = await send('POST', path + query, json(query ? 'warn' : 'absent'));
      expect([code, body.spec?.replicas]).toEqual([201, 2]);
      expect(body.spec).not.toHaveProperty('replicsa');
      for (const text of both) expect(warnings.join()).toContain(`299 - "${text.replaceAll('"', '\\"')}"`);
    });

    it('C09: Ignore says nothing, and what is none of them is refused', async () => {
      const ignored = await send('POST', `${path}?fieldValidation=Ignore`, json('ignore'));
      expect([ignored.code, ignored.warnings]).toEqual([201, []]);
      expect((await send('POST', `${path}?fieldValidation=Loud`, json('loud'))).code).toBe(422);
    });

    it('C09: is as strict of YAML and of patches', async () => {
      const yaml =
        'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: yaml}\ndta: {}\ndata: {a: b}\ndata: {a: c}\n';
      const maps = '/api/v1/namespaces/default/configmaps';
      const refused = await send('POST', `${maps}?fieldValidation=Strict`, yaml, 'application/yaml');
      expect([refused.code, refused.body.message]).toEqual([
        400,
        expect.stringContaining('unknown field "dta"'),
      ]);
      await send('POST', maps, configMap({ name: 'patched' }));
      const patched = await send(
        'PATCH',
        `${maps}/patched?fieldValidation=Strict`,
        { dta: {} },
        'application/merge-patch+json',
      );
      expect([patched.code, patched.body.message]).toEqual([
        422,
        expect.stringMatching(/patch: Invalid value: .*strict decoding error: unknown field "dta"/),
      ]);
    });
  });

  it('C10: generateName gives five characters of its own, and is kept', async () => {
    const path = await namespace('c10');
    const create = (metadata: object, query = '') => send('POST', path + query, configMap(metadata));
    const { code, body } = await create({ generateName: 'burst-' });
    expect(code).toBe(201);
    expect(body.metadata.name).toMatch(/^burst-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
    expect(body.metadata.generateName).toBe('burst-');
    const long = await create({ generateName: 'n'.repeat(80) });
    expect(long.body.metadata.name).toMatch(/^n{58}[bcdfghjklmnpqrstvwxz2456789]{5}$/);
    expect((await create({ name: 'mine', generateName: 'x-' })).body.metadata.name).toBe('mine');
    const neither = await create({});
    expect([neither.code, neither.body.message]).toEqual([
      422,
      expect.stringContaining('metadata.name: Required value: name or generateName is required'),
    ]);
    const before = (await send('GET', path)).body.items?.length;
    expect((await create({ generateName: 'dry-' }, '?dryRun=All')).body.metadata.name).toMatch(/^dry-.{5}$/);
    expect((await send('GET', path)).body.items).toHaveLength(before ?? -1);
  });

  describe('C12: custom resources', () => {
    const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    const path = '/apis/depot.test/v1/namespaces/default/kettles';
    const kettle = (name: string, more: object) => ({
      apiVersion: 'depot.test/v1',
      kind: 'Kettle',
      metadata: { name },
      ...more,
    });
    const spec = (more: object = {}) => ({
      type: 'object',
      properties: {
        mode: { type: 'string', default: 'slow' },
        note: { type: 'string', nullable: true, default: 'n' },
        size: { type: 'integer' },
        sizes: { type: 'array', items: { type: 'integer' } },
        extra: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        ...more,
      },
    });
    const definition = (more?: object) => ({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'kettles.depot.test' },
      spec: {
        group: 'depot.test',
        scope: 'Namespaced',
        names: { plural: 'kettles', singular: 'kettle', kind: 'Kettle', listKind: 'KettleList' },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            subresources: { status: {} },
            schema: {
              openAPIV3Schema: {
                type: 'object',
                properties: {
                  spec: spec(more),
                  status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
                },
              },
            },
          },
        ],
      },
    });
    beforeAll(async () => {
      expect((await send('POST', definitions, definition())).code).toBe(201);
      await eventually(async () => expect((await send('GET', path)).code).toBe(200));
    });

    it.each<[string, unknown, unknown]>([
      [
        'null',
        { mode: null, note: null, size: null, stray: 1, extra: { any: { deep: 1 } } },
        { mode: 'slow', note: null, extra: { any: { deep: 1 } } },
      ],
      ['empty', {}, { mode: 'slow', note: 'n' }],
      ['none', undefined, undefined],
    ])('C12: defaults and prunes a spec that is %s', async (name, given, expected) => {
      const { code, body, warnings } = await send('POST', path, kettle(name, { spec: given }));
      expect([code, body.spec]).toEqual([201, expected]);
      expect(warnings).toEqual(name === 'null' ? ['299 - "unknown field \\"spec.stray\\""'] : []);
    });

    it('C12: refuses null in a list of what is not nullable', async () => {
      expect((await send('POST', path, kettle('list', { spec: { sizes: [null] } }))).code).toBe(422);
    });

    it('C12: keeps status and the rest apart', async () => {
      const created = await send(
        'POST',
        path,
        kettle('apart', { spec: { size: 1 }, status: { ready: true } }),
      );
      expect(created.body.status).toBeUndefined();
      const { resourceVersion } = created.body.metadata;
      const changed = kettle('apart', { spec: { size: 2 }, status: { ready: true } });
      const updated = await send('PUT', `${path}/apart/status`, {
        ...changed,
        metadata: { name: 'apart', resourceVersion },
      });
      expect(updated.body).toMatchObject({
        metadata: { generation: 1 },
        spec: { size: 1 },
        status: { ready: true },
      });
    });

    it('C12: shows a default that came later of what was stored before', async () => {
      expect((await send('POST', path, kettle('old', { spec: { size: 1 } }))).code).toBe(201);
      const current = await send('GET', `${definitions}/kettles.depot.test`);
      const changed = definition({ colour: { type: 'string', default: 'red' } });
      const { resourceVersion } = current.body.metadata;
      const update = { ...changed, metadata: { ...changed.metadata, resourceVersion } };
      expect((await send('PUT', `${definitions}/kettles.depot.test`, update)).code).toBe(200);
      await eventually(async () =>
        expect((await send('GET', `${path}/old`)).body).toMatchObject({ spec: { colour: 'red' } }),
      );
      expect(await storedText('old')).not.toContain('colour');
    });

    async function storedText(name: string): Promise<string> {
      const { item } = await storage.get(`/registry/depot.test/kettles/default/${name}`);
      return Buffer.from(item?.value ?? []).toString();
    }
  });
});
