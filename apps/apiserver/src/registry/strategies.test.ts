import type { KubeObject } from '@tinkernetes/api';
import type { StrategyContext } from '../contracts';
import { strategies } from './strategies';

const context: StrategyContext = {
  user: { name: 'tester', groups: [] },
  namespace: 'default',
  apiVersion: 'v1',
  now: Date.parse('2030-01-01T00:00:00Z'),
  warn: () => undefined,
};
const metadata = { name: 'a', namespace: 'default' };

/** What a create would answer: the errors as `field: message`. */
function errorsOf(resource: string, object: object): string[] {
  const strategy = strategies.get(resource);
  if (!strategy) throw new Error(`no strategy for ${resource}`);
  const defaulted = strategy.default?.(object as KubeObject) ?? (object as KubeObject);
  const prepared = strategy.prepareForCreate?.(defaulted, context) ?? defaulted;
  return (strategy.validate?.(prepared, context) ?? []).map(({ field, message }) => `${field}: ${message}`);
}
const pod = (spec: object) => ({ metadata, spec });
const container = (more: object = {}) => ({ name: 'c', image: 'registry.example.com/app:1.2', ...more });

describe('validation of created objects', () => {
  it.each<[string, string, object, string[]]>([
    ['a Pod without containers', '/pods', pod({ containers: [] }), ['spec.containers: Required value']],
    [
      'a container without a name',
      '/pods',
      pod({ containers: [{ image: 'i' }] }),
      ['spec.containers[0].name: Required value'],
    ],
    [
      'two containers of one name',
      '/pods',
      pod({ containers: [container(), container()] }),
      ['spec.containers[1].name: Duplicate value: "c"'],
    ],
    [
      'two volume types in one volume',
      '/pods',
      pod({ containers: [container()], volumes: [{ name: 'v', emptyDir: {}, hostPath: { path: '/x' } }] }),
      ['spec.volumes[0].hostPath: Forbidden: may not specify more than 1 volume type'],
    ],
    [
      'a mount of a volume that is not there',
      '/pods',
      pod({ containers: [container({ volumeMounts: [{ name: 'missing', mountPath: '/a' }] })] }),
      ['spec.containers[0].volumeMounts[0].name: Not found: "missing"'],
    ],
    [
      'a request above its limit',
      '/pods',
      pod({ containers: [container({ resources: { limits: { cpu: '1' }, requests: { cpu: '2' } } })] }),
      [
        'spec.containers[0].resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1',
      ],
    ],
    [
      'a Deployment whose template has other labels',
      'apps/deployments',
      {
        metadata,
        spec: {
          selector: { matchLabels: { app: 'b' } },
          template: { metadata: { labels: { app: 'a' } }, spec: { containers: [container()] } },
        },
      },
      [
        'spec.template.metadata.labels: Invalid value: {"app":"a"}: `selector` does not match template `labels`',
      ],
    ],
    [
      'two Service ports without names',
      '/services',
      { metadata, spec: { ports: [{ port: 80 }, { port: 81 }] } },
      ['spec.ports[0].name: Required value', 'spec.ports[1].name: Required value'],
    ],
    [
      'a ConfigMap key with a slash',
      '/configmaps',
      { metadata, data: { 'a/b': 'c' } },
      [
        `data[a/b]: Invalid value: "a/b": a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')`,
      ],
    ],
  ])('refuses %s', (_what, resource, object, expected) => {
    expect(errorsOf(resource, object)).toEqual(expected);
  });

  it.each([
    ['/pods', pod({ containers: [container()] })],
    ['/services', { metadata, spec: { ports: [{ port: 80 }] } }],
    ['/configmaps', { metadata, data: { a: 'b' } }],
    ['/secrets', { metadata, stringData: { a: 'b' } }],
    ['/nodes', { metadata: { name: 'n' }, spec: {}, status: {} }],
    ['/namespaces', { metadata: { name: 'n' } }],
  ])('accepts an ordinary object of %s', (resource, object) => {
    expect(errorsOf(resource, object)).toEqual([]);
  });
});

describe('graceful deletion of Pods', () => {
  const graceful = (spec: object, status: object, requested?: number) =>
    strategies.get('/pods')?.graceful?.({ metadata, spec, status } as KubeObject, requested);

  it.each([
    ['takes the Pod’s own period', { nodeName: 'n', terminationGracePeriodSeconds: 30 }, {}, undefined, 30],
    ['takes the requested period', { nodeName: 'n', terminationGracePeriodSeconds: 30 }, {}, 5, 5],
    ['is at once before a Pod is scheduled', { terminationGracePeriodSeconds: 30 }, {}, undefined, 0],
    ['is at once for finished Pods', { nodeName: 'n' }, { phase: 'Succeeded' }, 30, 0],
  ])('%s', (_rule, spec, status, requested, seconds) => {
    expect(graceful(spec, status, requested)).toBe(seconds);
  });
});
