import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import {
  ConfigMaps,
  CustomResourceDefinitions,
  EndpointSlices,
  Namespaces,
  Services,
  ValidatingAdmissionPolicies,
  ValidatingAdmissionPolicyBindings,
  type KubeObject,
  type ResourceDescriptor,
} from '@tinkernetes/api';
import { createClient, type Client } from '@tinkernetes/client';
import { eventually } from '@tinkernetes/component-base/testing';
import { issueCertificate } from '@tinkernetes/pki';
import { startApiServer, type TestApiServer } from '@tinkernetes/testing';

interface Lamp extends KubeObject {
  spec?: Record<string, unknown>;
}
interface Review {
  apiVersion: string;
  kind: string;
  request: { uid: string; desiredAPIVersion: string; objects: Lamp[] };
}

const group = 'light.test';
const lamps = (version: string): ResourceDescriptor<Lamp> => ({
  group,
  version,
  resource: 'lamps',
  kind: 'Lamp',
  namespaced: true,
});
const v1 = lamps('v1');
const v2 = lamps('v2');
const namespace = { namespace: 'default' };

/** v1 has `spec.watts`, v2 `spec.power: "N W"`. */
function converted(lamp: Lamp, apiVersion: string): Lamp {
  const { watts, power, ...spec } = lamp.spec ?? {};
  const other = apiVersion.endsWith('/v2')
    ? { power: `${String(watts)} W` }
    : { watts: Number(String(power).replace(' W', '')) };
  return { ...lamp, apiVersion, spec: { ...spec, ...other, stray: true } };
}

describe('custom resources whose versions a webhook converts', () => {
  let server: TestApiServer;
  let client: Client;
  let webhook: Server;
  let port: number;
  let caBundle: string;
  const reviews: Review[] = [];
  /** What the webhook answers with; tests replace it. */
  let answer: (review: Review) => object;

  const success = ({ apiVersion, kind, request }: Review, objects: unknown[], more: object = {}): object => ({
    apiVersion,
    kind,
    response: { uid: request.uid, convertedObjects: objects, result: { status: 'Success' }, ...more },
  });
  const convertAll = (review: Review): object =>
    success(
      review,
      review.request.objects.map((lamp) => converted(lamp, review.request.desiredAPIVersion)),
    );

  const version = (name: string, storage: boolean, field: object) => ({
    name,
    served: true,
    storage,
    schema: {
      openAPIV3Schema: {
        type: 'object',
        properties: {
          spec: { type: 'object', properties: { ...field, color: { type: 'string', default: 'white' } } },
        },
      },
    },
    additionalPrinterColumns: [{ name: 'Power', type: 'string', jsonPath: '.spec.power' }],
    selectableFields: [{ jsonPath: '.spec.color' }],
  });
  const definition = (storage: 'v1' | 'v2', clientConfig: object) => ({
    metadata: { name: `lamps.${group}` },
    spec: {
      group,
      scope: 'Namespaced' as const,
      names: { plural: 'lamps', kind: 'Lamp' },
      versions: [
        version('v1', storage === 'v1', { watts: { type: 'integer', minimum: 1 } }),
        version('v2', storage === 'v2', { power: { type: 'string', pattern: ' W$' } }),
      ],
      conversion: {
        strategy: 'Webhook',
        webhook: { conversionReviewVersions: ['v7', 'v1'], clientConfig },
      },
    },
  });
  const outcome = (call: Promise<unknown>): Promise<string> =>
    call.then(
      () => 'fine',
      (error: Error) => error.message,
    );

  beforeAll(async () => {
    server = await startApiServer({ flags: ['--host-alias=172.30.0.0/16=127.0.0.1'] });
    client = createClient(server.adminConfig);
    const pair = await issueCertificate(server.ca, {
      commonName: 'hook',
      dnsNames: ['hook.default.svc'],
      ipAddresses: ['127.0.0.1'],
      usages: ['serverAuth'],
      now: Date.now(),
    });
    caBundle = Buffer.from(server.ca.certificate).toString('base64');
    webhook = createServer({ cert: pair.certificate, key: pair.key }, (request, response) => {
      let text = '';
      request.setEncoding('utf8');
      request.on('data', (chunk: string) => (text += chunk));
      request.on('end', () => {
        const review = JSON.parse(text) as Review;
        reviews.push(review);
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer(review)));
      });
    });
    await new Promise<void>((resolve) => webhook.listen(0, '127.0.0.1', () => resolve()));
    port = (webhook.address() as AddressInfo).port;
    if (!server.stores.for(Namespaces).peek('default')) {
      await client.for(Namespaces).create({ metadata: { name: 'default' }, spec: {} });
    }
    await client
      .for(CustomResourceDefinitions)
      .create(definition('v1', { url: `https://127.0.0.1:${port}/convert`, caBundle }));
    await eventually(() => client.for(v2).list(namespace));
  });
  beforeEach(() => {
    answer = convertAll;
    reviews.length = 0;
  });
  afterAll(async () => {
    client.close();
    webhook.close();
    webhook.closeAllConnections();
    await server.stop();
  });

  it('keeps the storage version, and shows each version converted and pruned', async () => {
    const made = await client
      .for(v2)
      .create({ metadata: { name: 'desk' }, spec: { power: '40 W' } }, namespace);
    expect(made).toMatchObject({ apiVersion: `${group}/v2`, spec: { power: '40 W', color: 'white' } });
    expect(made.spec).not.toHaveProperty('stray');
    expect(reviews[0]).toMatchObject({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'ConversionReview',
      request: { desiredAPIVersion: `${group}/v1`, objects: [{ spec: { power: '40 W' } }] },
    });
    expect(server.stores.find(group, 'lamps')?.peek('desk', 'default')).toMatchObject({
      apiVersion: `${group}/v1`,
      spec: { watts: 40 },
    });
    expect((await client.for(v1).get('desk', namespace)).spec).toEqual({ watts: 40, color: 'white' });
  });

  it('asks once for all objects of a list, and not again for the next reader', async () => {
    for (const name of ['hall', 'porch']) {
      await client.for(v1).create({ metadata: { name }, spec: { watts: 5 } }, namespace);
    }
    reviews.length = 0;
    const { items } = await client.for(v2).list({ ...namespace, fieldSelector: 'spec.color=white' });
    expect(items.map(({ spec }) => spec?.power)).toEqual(['40 W', '5 W', '5 W']);
    await client.for(v2).list(namespace);
    expect(reviews.map(({ request }) => request.objects.length)).toEqual([2]);
  });

  it("checks, patches and applies in the request's version", async () => {
    expect(
      await outcome(client.for(v2).create({ metadata: { name: 'bad' }, spec: { power: 'lots' } }, namespace)),
    ).toContain('spec.power in body should match');
    const patched = await client.request<Lamp>({
      method: 'PATCH',
      path: `/apis/${group}/v2/namespaces/default/lamps/desk`,
      headers: { 'content-type': 'application/merge-patch+json' },
      body: { spec: { power: '60 W' } },
    });
    expect(patched.spec?.power).toBe('60 W');
    const applied = await client.request<Lamp>({
      method: 'PATCH',
      path: `/apis/${group}/v2/namespaces/default/lamps/stair?fieldManager=me`,
      headers: { 'content-type': 'application/apply-patch+yaml' },
      body: { apiVersion: `${group}/v2`, kind: 'Lamp', metadata: { name: 'stair' }, spec: { power: '7 W' } },
    });
    expect(applied.metadata.managedFields?.[0]).toMatchObject({
      apiVersion: `${group}/v2`,
      fieldsV1: { 'f:spec': { 'f:power': {} } },
    });
    expect((await client.for(v1).get('stair', namespace)).spec?.watts).toBe(7);
  });

  it('prints columns of the converted object', async () => {
    const table = await client.request<{ rows: { cells: unknown[] }[] }>({
      method: 'GET',
      path: `/apis/${group}/v2/namespaces/default/lamps`,
      headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' },
    });
    expect(table.rows.map(({ cells }) => cells)).toContainEqual(['desk', '60 W']);
  });

  it('watches in each version, in order', async () => {
    const from = (await client.for(v2).list(namespace)).metadata.resourceVersion;
    const watched = client.for(v2).watch({ ...namespace, resourceVersion: from, timeoutSeconds: 60 });
    await client.for(v1).create({ metadata: { name: 'seen' }, spec: { watts: 1 } }, namespace);
    await client.for(v1).delete('seen', namespace);
    const events: { type: string; object: Lamp }[] = [];
    for await (const event of watched) if (events.push(event as { type: string; object: Lamp }) === 2) break;
    expect(events.map(({ type, object }) => [type, object.apiVersion, object.spec?.power])).toEqual([
      ['ADDED', `${group}/v2`, '1 W'],
      ['DELETED', `${group}/v2`, '1 W'],
    ]);
  });

  it('keeps all metadata but labels and annotations from the webhook', async () => {
    answer = (review) =>
      success(
        review,
        review.request.objects.map((lamp) => ({
          ...converted(lamp, review.request.desiredAPIVersion),
          metadata: { ...lamp.metadata, labels: { from: 'webhook' }, generation: 99, finalizers: ['x/y'] },
        })),
      );
    await client.for(v1).create({ metadata: { name: 'plain' }, spec: { watts: 2 } }, namespace);
    const { metadata } = await client.for(v2).get('plain', namespace);
    expect(metadata).toMatchObject({ generation: 1, labels: { from: 'webhook' } });
    expect(metadata.finalizers).toBeUndefined();
  });

  const other = (change: (lamp: Lamp) => object) => (review: Review) =>
    success(
      review,
      review.request.objects.map((lamp) => change(converted(lamp, review.request.desiredAPIVersion))),
    );
  const type = `${group}/v1, Kind=Lamp`;
  it.each([
    [
      'fails',
      (r: Review) => success(r, [], { result: { status: 'Failure', message: 'no idea' } }),
      'failed: no idea',
    ],
    [
      'has no status',
      (r: Review) => success(r, [], { result: {} }),
      "failed: response.result.status was '', not 'Success'",
    ],
    [
      'has no response',
      ({ kind, apiVersion }: Review) => ({ kind, apiVersion }),
      'failed: no response provided',
    ],
    ['is for another', (r: Review) => success(r, [], { uid: 'x' }), 'failed: expected response.uid='],
    [
      'is something else',
      () => ({ kind: 'Status', apiVersion: 'v1' }),
      'failed: expected webhook response of',
    ],
    ['lacks objects', (r: Review) => success(r, []), 'returned 0 objects, expected 1'],
    [
      'is of another version',
      other((lamp) => ({ ...lamp, apiVersion: 'a/v3' })),
      `returned invalid object at index 0: invalid groupVersion (expected ${group}/v2, received a/v3)`,
    ],
    [
      'is of another kind',
      other((lamp) => ({ ...lamp, kind: 'Torch' })),
      'returned invalid object at index 0: invalid kind (expected Lamp, received Torch)',
    ],
    [
      'has another name',
      other((lamp) => ({ ...lamp, metadata: { ...lamp.metadata, name: 'x' } })),
      'returned invalid object: must have the same name: odd != x',
    ],
    [
      'has labels that are none',
      other((lamp) => ({ ...lamp, metadata: { ...lamp.metadata, labels: { a: 1 } } })),
      'returned invalid metadata: metadata.labels[a] must be a string, but is int64 in converted object',
    ],
  ])('is a 500 when the answer %s', async (_what, wrong, message) => {
    await outcome(client.for(v1).delete('odd', namespace));
    await client.for(v1).create({ metadata: { name: 'odd' }, spec: { watts: 3 } }, namespace);
    answer = wrong;
    const error = await client
      .for(v2)
      .get('odd', namespace)
      .then(
        () => undefined,
        (e: { code: number; message: string }) => e,
      );
    expect(error).toMatchObject({ code: 500 });
    expect(error?.message).toContain(`conversion webhook for ${type} ${message}`);
    answer = convertAll;
    await client.for(v1).delete('odd', namespace);
  });

  it('gives policies their parameters in the version that they name', async () => {
    const policies = client.for(ValidatingAdmissionPolicies);
    const bindings = client.for(ValidatingAdmissionPolicyBindings);
    const resourceRules = [
      { operations: ['CREATE' as const], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] },
    ];
    await policies.create({
      metadata: { name: 'power' },
      spec: {
        paramKind: { apiVersion: `${group}/v2`, kind: 'Lamp' },
        matchConstraints: { resourceRules },
        validations: [
          { expression: 'object.data.power == params.spec.power', messageExpression: 'params.spec.power' },
        ],
      },
    });
    await bindings.create({
      metadata: { name: 'power' },
      spec: {
        policyName: 'power',
        validationActions: ['Deny'],
        paramRef: { name: 'desk', namespace: 'default', parameterNotFoundAction: 'Deny' },
      },
    });
    try {
      expect(server.stores.find(group, 'lamps')?.peek('desk', 'default')?.apiVersion).toBe(`${group}/v1`);
      const { power } = (await client.for(v2).get('desk', namespace)).spec ?? {};
      const create = (value: string) =>
        outcome(
          client.for(ConfigMaps).create({ metadata: { name: 'c' }, data: { power: value } }, namespace),
        );
      await eventually(async () =>
        expect(await create('none')).toMatch(new RegExp(`denied request: ${String(power)}$`)),
      );
      expect(await create(String(power))).toBe('fine');
    } finally {
      await bindings.delete('power');
      await policies.delete('power');
    }
  });

  it('migrates what is stored when it is written again', async () => {
    const definitions = client.for(CustomResourceDefinitions);
    const current = await definitions.get(`lamps.${group}`);
    await definitions.update({
      ...current,
      spec: { ...current.spec, versions: definition('v2', {}).spec.versions },
    });
    await eventually(async () =>
      expect((await definitions.get(`lamps.${group}`)).status?.storedVersions).toEqual(['v1', 'v2']),
    );
    const stored = () => server.stores.find(group, 'lamps')?.peek('desk', 'default');
    expect(stored()?.apiVersion).toBe(`${group}/v1`);
    const desk = await client.for(v2).get('desk', namespace);
    const written = await client.for(v2).update(desk, namespace);
    expect(stored()?.apiVersion).toBe(`${group}/v2`);
    expect(written.metadata.generation).toBe(desk.metadata.generation);
    expect((await client.for(v1).get('desk', namespace)).spec).toEqual({ watts: 60, color: 'white' });
  });

  it('asks a webhook behind a Service', async () => {
    await client
      .for(Services)
      .create({ metadata: { name: 'hook' }, spec: { ports: [{ port: 443, targetPort: port }] } }, namespace);
    await server.stores.for(EndpointSlices).create({
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { name: 'hook', namespace: 'default', labels: { 'kubernetes.io/service-name': 'hook' } },
      addressType: 'IPv4',
      endpoints: [{ addresses: ['172.30.0.1'], conditions: { ready: true } }],
      ports: [{ name: '', port, protocol: 'TCP' }],
    } as never);
    const definitions = client.for(CustomResourceDefinitions);
    const current = await definitions.get(`lamps.${group}`);
    const service = { name: 'hook', namespace: 'default', path: '/convert' };
    const updated = await definitions.update({
      ...current,
      spec: { ...current.spec, conversion: definition('v2', { service, caBundle }).spec.conversion },
    });
    expect(updated.spec.conversion?.webhook?.clientConfig?.service?.port).toBe(443);
    reviews.length = 0;
    expect((await client.for(v1).get('desk', namespace)).spec?.watts).toBe(60);
    expect(reviews).toHaveLength(1);
  });

  it('says who does not answer', async () => {
    const definitions = client.for(CustomResourceDefinitions);
    const current = await definitions.get(`lamps.${group}`);
    const broken = definition('v2', { url: 'https://127.0.0.1:1/convert', caBundle }).spec.conversion;
    await definitions.update({ ...current, spec: { ...current.spec, conversion: broken } });
    expect(await outcome(client.for(v1).get('desk', namespace))).toBe(
      `conversion webhook for ${group}/v2, Kind=Lamp failed: Post "https://127.0.0.1:1/convert?timeout=30s": dial tcp 127.0.0.1:1: connect: connection refused`,
    );
  });

  it.each([
    [{ strategy: 'Webhook' }, 'spec.conversion.webhookClientConfig: Required value: required when strategy'],
    [
      { strategy: 'Magic' },
      'spec.conversion.strategy: Unsupported value: "Magic": supported values: "None", "Webhook"',
    ],
    [
      {
        strategy: 'None',
        webhook: { conversionReviewVersions: ['v1'], clientConfig: { url: 'https://a.b' } },
      },
      'spec.conversion.webhookClientConfig: Forbidden: should not be set when strategy is not set to Webhook',
    ],
    [
      {
        strategy: 'Webhook',
        webhook: { conversionReviewVersions: ['v9'], clientConfig: { url: 'http://a.b' } },
      },
      "'https' is the only allowed URL scheme",
    ],
    [
      {
        strategy: 'Webhook',
        webhook: { conversionReviewVersions: ['v9'], clientConfig: { url: 'https://a.b' } },
      },
      'must include at least one of v1, v1beta1',
    ],
  ])('refuses the conversion %j', async (conversion, message) => {
    const wrong = definition('v1', {});
    wrong.metadata.name = `lamps.other.${group}`;
    wrong.spec.group = `other.${group}`;
    const call = client.for(CustomResourceDefinitions).create({
      ...wrong,
      spec: { ...wrong.spec, conversion },
    });
    expect(await outcome(call)).toContain(message);
  });
});
