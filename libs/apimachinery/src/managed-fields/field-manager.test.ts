import { loadSchemas } from '@tinkernetes/api';
import type { KubeObject } from '@tinkernetes/api';
import { StatusError } from '../status-error';
import { applyConfiguration } from './apply-configuration';
import { trackUpdate } from './track-update';

const options = (schema: string, manager: string, apiVersion = 'v1') => ({
  schemas: loadSchemas(),
  schemaName: `io.k8s.api.${schema}`,
  manager,
  apiVersion,
  subresource: '',
  now: '2030-01-01T00:00:00Z',
  ignored: [['status']],
  empty: { apiVersion, kind: schema.slice(schema.lastIndexOf('.') + 1), metadata: { name: '' } },
});
type Object_ = KubeObject & { data?: Record<string, string>; spec?: Record<string, unknown> };

/** A ConfigMap under the hands of several managers. */
class Scenario {
  live: Object_ | undefined;

  apply(manager: string, data: object | undefined, force = false): void {
    const config = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'cfg' },
      ...(data ? { data } : {}),
    };
    const isCreate = this.live === undefined;
    const live = this.live ?? { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: '' } };
    this.live = applyConfiguration(live, config as Object_, {
      ...options('core.v1.ConfigMap', manager),
      isCreate,
      force,
    });
  }

  update(manager: string, data: Record<string, string>): void {
    if (!this.live) throw new Error('nothing to update');
    const next = { ...this.live, data };
    this.live = trackUpdate(this.live, next, { ...options('core.v1.ConfigMap', manager), isCreate: false });
  }

  get owners(): unknown {
    return this.live?.metadata.managedFields?.map(({ manager, operation, fieldsV1 }) => [
      manager,
      operation,
      fieldsV1,
    ]);
  }
}

const failureOf = (action: () => void): StatusError => {
  try {
    action();
  } catch (error) {
    if (error instanceof StatusError) return error;
    throw error;
  }
  throw new Error('no error');
};

describe('C03: server-side apply', () => {
  it('keeps a manager’s applied and updated fields apart, and reports the conflict between them', () => {
    const scenario = new Scenario();
    scenario.apply('alpha', { one: '1', two: '2' });
    scenario.update('alpha', { one: '1', two: 'X' });
    expect(scenario.owners).toEqual([
      ['alpha', 'Apply', { 'f:data': { 'f:one': {} } }],
      ['alpha', 'Update', { 'f:data': { 'f:two': {} } }],
    ]);
    const error = failureOf(() => scenario.apply('alpha', { one: '1', two: '2' }));
    expect(error.code).toBe(409);
    expect(error.message).toBe('Apply failed with 1 conflict: conflict with "alpha" using v1: .data.two');
    expect(error.causes).toEqual([
      { reason: 'FieldManagerConflict', message: 'conflict with "alpha" using v1', field: '.data.two' },
    ]);
  });

  it('takes the field over when forced, and drops the entry that owns nothing any more', () => {
    const scenario = new Scenario();
    scenario.apply('alpha', { one: '1', two: '2' });
    scenario.update('alpha', { one: '1', two: 'X' });
    scenario.apply('alpha', { one: '1', two: '2' }, true);
    expect(scenario.live?.data).toEqual({ one: '1', two: '2' });
    expect(scenario.owners).toEqual([['alpha', 'Apply', { 'f:data': { 'f:one': {}, 'f:two': {} } }]]);
  });

  it('shares a field that two managers apply with one value, and deletes it when the last lets go', () => {
    const scenario = new Scenario();
    scenario.apply('alpha', { one: '1', two: '2' });
    scenario.apply('beta', { one: '1' });
    scenario.apply('alpha', { two: '2' });
    expect(scenario.live?.data).toEqual({ one: '1', two: '2' });
    scenario.apply('beta', {});
    expect(scenario.live?.data).toEqual({ two: '2' });
  });

  it('changes nothing when the same configuration is applied again', () => {
    const scenario = new Scenario();
    scenario.apply('alpha', { one: '1' });
    const before = scenario.live;
    scenario.apply('alpha', { one: '1' });
    expect(scenario.live).toEqual(before);
  });

  it('refuses managedFields in a configuration', () => {
    const config = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', managedFields: [] } };
    const apply = () =>
      applyConfiguration({ metadata: { name: 'a' } }, config, {
        ...options('core.v1.ConfigMap', 'alpha'),
        isCreate: true,
        force: false,
      });
    expect(failureOf(apply)).toMatchObject({ code: 400, message: 'metadata.managedFields must be nil' });
  });
});

describe('apply by schema', () => {
  const deployment = (containers: object[], more: object = {}) =>
    ({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'd' },
      spec: { template: { spec: { containers } }, ...more },
    }) as Object_;
  const apply = (live: Object_, config: Object_, manager: string, force = false) =>
    applyConfiguration(live, config, {
      ...options('apps.v1.Deployment', manager, 'apps/v1'),
      isCreate: live.metadata.name === '',
      force,
    });
  const empty: Object_ = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: '' }, spec: {} };

  it('owns list-map elements by their keys, absent keys by their defaults', () => {
    const applied = apply(
      empty,
      deployment([{ name: 'a', image: 'a:1', ports: [{ containerPort: 80 }] }]),
      'alpha',
    );
    expect(applied.metadata.managedFields?.[0]?.fieldsV1).toEqual({
      'f:spec': {
        'f:template': {
          'f:spec': {
            'f:containers': {
              'k:{"name":"a"}': {
                '.': {},
                'f:image': {},
                'f:name': {},
                'f:ports': { 'k:{"containerPort":80,"protocol":"TCP"}': { '.': {}, 'f:containerPort': {} } },
              },
            },
          },
        },
      },
    });
  });

  it('removes an element with the fields that the server had added to it', () => {
    const live = apply(
      empty,
      deployment([
        { name: 'a', image: 'a:1' },
        { name: 'b', image: 'b:1' },
      ]),
      'alpha',
    );
    const spec = (live as Object_).spec as { template: { spec: { containers: object[] } } };
    const defaulted: Object_ = {
      ...live,
      ...deployment(spec.template.spec.containers.map((c) => ({ ...c, imagePullPolicy: 'Always' }))),
      metadata: live.metadata,
    };
    const next = apply(defaulted, deployment([{ name: 'a', image: 'a:1' }]), 'alpha');
    expect((next as Object_).spec).toEqual(
      deployment([{ name: 'a', image: 'a:1', imagePullPolicy: 'Always' }]).spec,
    );
  });

  it.each([
    [deployment([], { nope: 1 }), '.spec.nope: field not declared in schema'],
    [
      deployment([{ name: 'a' }, { name: 'a' }]),
      '.spec.template.spec.containers: duplicate entries for key [name="a"]',
    ],
  ])('refuses %j', (config, message) => {
    const error = failureOf(() => apply(empty, config, 'alpha'));
    expect(error.code).toBe(500);
    expect(error.message).toBe(
      `failed to create typed patch object (/d; apps/v1, Kind=Deployment): ${message}`,
    );
  });

  it('writes conflicts in lists with the element’s keys', () => {
    const live = apply(empty, deployment([{ name: 'a', image: 'a:1' }]), 'alpha');
    const error = failureOf(() => apply(live, deployment([{ name: 'a', image: 'a:2' }]), 'beta'));
    expect(error.causes[0]?.field).toBe('.spec.template.spec.containers[name="a"].image');
  });
});

describe('tracking of creates', () => {
  it('owns new maps themselves, but not what every object of the kind has', () => {
    const empty = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: '' } };
    const next = { ...empty, metadata: { name: 'm', labels: { l: 'm' } }, data: { a: '1' } };
    const tracked = trackUpdate(empty, next, { ...options('core.v1.ConfigMap', 'kubectl'), isCreate: true });
    expect(tracked.metadata.managedFields).toEqual([
      {
        manager: 'kubectl',
        operation: 'Update',
        apiVersion: 'v1',
        time: '2030-01-01T00:00:00Z',
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:data': { '.': {}, 'f:a': {} }, 'f:metadata': { 'f:labels': { '.': {}, 'f:l': {} } } },
      },
    ]);
  });

  it('leaves objects alone that nobody tracked so far', () => {
    const live = { metadata: { name: 'm' }, data: { a: '1' } };
    const next = { metadata: { name: 'm' }, data: { a: '2' } };
    expect(trackUpdate(live, next, { ...options('core.v1.ConfigMap', 'late'), isCreate: false })).toEqual(
      next,
    );
  });
});

describe('apply after client-side apply', () => {
  const annotation = 'kubectl.kubernetes.io/last-applied-configuration';
  const config = (data: object, annotations?: object) =>
    ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'cfg', ...(annotations ? { annotations } : {}) },
      data,
    }) as Object_;
  const applied = (data: object) => config({ ...data }, { [annotation]: JSON.stringify(config({ a: '1' })) });
  const live = (data: object) =>
    trackUpdate({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: '' } }, applied(data), {
      ...options('core.v1.ConfigMap', 'kubectl-client-side-apply'),
      isCreate: true,
    });
  const apply = (object: KubeObject) =>
    applyConfiguration(object, config({ a: '2' }), {
      ...options('core.v1.ConfigMap', 'kubectl'),
      isCreate: false,
      force: false,
    });

  it('takes over what the client had applied, and writes down what it applies now', () => {
    expect(apply(live({ a: '1' }))).toMatchObject({
      data: { a: '2' },
      metadata: {
        annotations: {
          [annotation]: '{"apiVersion":"v1","data":{"a":"2"},"kind":"ConfigMap","metadata":{"name":"cfg"}}\n',
        },
      },
    });
  });

  it('does not take over what somebody has changed since', () => {
    expect(() => apply(live({ a: '9' }))).toThrow('conflict with "kubectl-client-side-apply"');
  });
});

describe('trackUpdate', () => {
  const account = (name: string, secrets: object[]) =>
    ({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name }, secrets }) as unknown as KubeObject;
  const create = (next: KubeObject) =>
    trackUpdate(account('', []), next, { ...options('core.v1.ServiceAccount', 'm'), isCreate: true });

  it('gives ownership up where an element of a list has no key', () => {
    expect(create(account('a', [{ name: 's' }])).metadata.managedFields).toHaveLength(1);
    expect(create(account('a', [{}])).metadata.managedFields).toBeUndefined();
  });

  it('leaves nobody as the owner of what a Scale sets to zero, since it leaves it out', () => {
    const deployment = (replicas: number, managedFields?: KubeObject['metadata']['managedFields']) =>
      ({
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: 'd', managedFields },
        spec: { replicas, paused: true },
      }) as unknown as KubeObject;
    const main = options('apps.v1.Deployment', 'm', 'apps/v1');
    const created = trackUpdate(deployment(0), deployment(2), { ...main, isCreate: true });
    const scale = { ...main, subresource: 'scale', ignored: [], isCreate: false };
    const scaled = trackUpdate(created, deployment(4, created.metadata.managedFields), scale);
    expect(scaled.metadata.managedFields?.map(({ subresource }) => subresource)).toEqual(['scale']);
    const zero = trackUpdate(scaled, deployment(0, scaled.metadata.managedFields), scale);
    expect(zero.metadata.managedFields).toBeUndefined();
  });
});
