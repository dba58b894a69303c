import type { Pod, Service } from '@tinkernetes/api';
import { maxAddresses, subsetsOf } from './subsets';

const serviceOf = (spec: Partial<Service['spec']> = {}): Service => ({
  metadata: { name: 'web', namespace: 'default' },
  spec: {
    selector: { app: 'web' },
    ports: [
      { name: 'http', port: 80, targetPort: 'http', protocol: 'TCP' },
      { name: 'metrics', port: 9100, targetPort: 'metrics', protocol: 'TCP' },
    ],
    ...spec,
  },
});
const podOf = (index: number, ports: Record<string, number>, ready = true): Pod => ({
  metadata: { name: `p${index}`, namespace: 'default', uid: `${index}` },
  spec: {
    nodeName: 'n1',
    containers: [
      {
        name: 'c',
        ports: Object.entries(ports).map(([name, containerPort]) => ({
          name,
          containerPort,
          protocol: 'TCP',
        })),
      },
    ],
  },
  status: {
    phase: 'Running',
    podIP: `10.0.${index >> 8}.${index & 255}`,
    podIPs: [{ ip: `10.0.${index >> 8}.${index & 255}` }],
    conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }],
  },
});
/** `http:8080 metrics:9100 = p1 p2 | p3`: ports, those that are ready, those that are not. */
const shown = (service: Service, pods: readonly Pod[]): string[] =>
  subsetsOf(service, pods).subsets.map(({ ports = [], addresses = [], notReadyAddresses = [] }) => {
    const names = (list: typeof addresses) => list.map((a) => a.targetRef?.name).join(' ');
    const rest = notReadyAddresses.length > 0 ? ` | ${names(notReadyAddresses)}` : '';
    return `${ports.map((p) => `${p.name}:${p.port}`).join(' ')} = ${names(addresses)}${rest}`;
  });
const both = { http: 8080, metrics: 9100 };

it.each<[string, Service, Pod[], string[]]>([
  [
    'all ports in one subset where the same Pods serve them',
    serviceOf(),
    [podOf(1, both), podOf(2, both, false)],
    ['http:8080 metrics:9100 = p1 | p2'],
  ],
  [
    'a port that only one of the Pods serves in a subset of its own',
    serviceOf(),
    [podOf(1, both), podOf(2, { http: 8080 })],
    ['http:8080 = p1 p2', 'metrics:9100 = p1'],
  ],
  [
    'C17 a named port of two numbers in two subsets',
    serviceOf(),
    [podOf(1, both), podOf(2, { http: 9090, metrics: 9100 })],
    ['http:8080 = p1', 'http:9090 = p2', 'metrics:9100 = p1 p2'],
  ],
  ['no Pod that serves none of the ports', serviceOf(), [podOf(1, {})], []],
  [
    'all Pods of a headless Service without ports',
    serviceOf({ clusterIP: 'None', ports: [] }),
    [podOf(1, {})],
    [' = p1'],
  ],
  [
    'C17 those that are not ready as ready where they are published',
    serviceOf({ publishNotReadyAddresses: true }),
    [podOf(1, both, false)],
    ['http:8080 metrics:9100 = p1'],
  ],
])('Endpoints show %s', (_, service, pods, expected) => {
  expect(shown(service, pods)).toEqual(expected);
});

it('C17 Endpoints leave out what is too much, and first what is not ready', () => {
  const pods = Array.from({ length: maxAddresses + 200 }, (_, i) => podOf(i, both, i >= 500));
  const { subsets, truncated } = subsetsOf(serviceOf(), pods);
  expect(truncated).toBe(true);
  expect([subsets[0]?.addresses?.length, subsets[0]?.notReadyAddresses?.length]).toEqual([700, 300]);
});
