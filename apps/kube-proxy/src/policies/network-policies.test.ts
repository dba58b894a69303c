import type { Namespace, NetworkPolicy, Pod } from '@tinkernetes/api';
import { compilePolicies } from './network-policies';

const pod = (
  name: string,
  ip: string,
  more: { namespace?: string; port?: number; hostNetwork?: boolean } = {},
): Pod => ({
  metadata: { name, namespace: more.namespace ?? 'default', labels: { app: name } },
  spec: {
    hostNetwork: more.hostNetwork,
    containers: [
      {
        name: 'c',
        ports: more.port
          ? [
              { name: 'http', containerPort: more.port },
              { name: 'http', containerPort: more.port + 1, protocol: 'UDP' },
            ]
          : [],
      },
    ],
  },
  status: { phase: 'Running', podIPs: [{ ip }] },
});
const namespace = (name: string, labels: Record<string, string> = {}): Namespace => ({
  metadata: { name, labels: { 'kubernetes.io/metadata.name': name, ...labels } },
  spec: {},
});
const policy = (spec: NetworkPolicy['spec']): NetworkPolicy => ({
  metadata: { name: 'p', namespace: 'default' },
  spec,
});

const pods = [
  pod('a', '10.0.0.1', { port: 8080 }),
  pod('b', '10.0.0.2', { port: 9090 }),
  pod('c', '10.0.0.3', { namespace: 'other' }),
  pod('node', '172.30.0.11', { hostNetwork: true }),
];
const namespaces = [namespace('default'), namespace('other', { team: 'x' }), namespace('kube-system')];
const nameServer = { addresses: ['172.30.0.1'], port: 4053 };
const compile = (spec: NetworkPolicy['spec']) =>
  compilePolicies({ policies: [policy(spec)], pods, namespaces, nameServer });
const onlyA = { matchLabels: { app: 'a' } };
const tcp = (port: number, endPort = 0) => ({ protocol: 'TCP', port, endPort });

describe('compilePolicies', () => {
  it('isolates all Pods of the namespace, but none of the node’s network, where nothing is allowed', () => {
    expect(compile({ podSelector: {}, policyTypes: ['Ingress', 'Egress'] })).toEqual([
      { name: 'default/p', direction: 'INGRESS', subjects: ['10.0.0.1', '10.0.0.2'], rules: [] },
      { name: 'default/p', direction: 'EGRESS', subjects: ['10.0.0.1', '10.0.0.2'], rules: [] },
    ]);
  });

  it.each<[string, NonNullable<NetworkPolicy['spec']>, object[]]>([
    ['everybody', { podSelector: onlyA, ingress: [{}] }, [{ peers: [], ports: [] }]],
    [
      'Pods of the namespace',
      { podSelector: onlyA, ingress: [{ from: [{ podSelector: {} }] }] },
      [{ peers: [{ addresses: ['10.0.0.1', '10.0.0.2'] }], ports: [] }],
    ],
    [
      'Pods of other namespaces',
      { podSelector: onlyA, ingress: [{ from: [{ namespaceSelector: { matchLabels: { team: 'x' } } }] }] },
      [{ peers: [{ addresses: ['10.0.0.3'] }], ports: [] }],
    ],
    [
      'nobody, as no Pod matches both selectors',
      {
        podSelector: onlyA,
        ingress: [{ from: [{ namespaceSelector: { matchLabels: { team: 'x' } }, podSelector: onlyA }] }],
      },
      [{ peers: [{ addresses: [] }], ports: [] }],
    ],
    [
      'ranges and ports',
      {
        podSelector: onlyA,
        ingress: [
          {
            from: [{ ipBlock: { cidr: '10.0.0.0/8', except: ['10.1.0.0/16'] } }],
            ports: [{ port: 80 }, { port: 1000, endPort: 2000 }, { port: 'http' }],
          },
        ],
      },
      [
        {
          peers: [{ cidr: '10.0.0.0/8', except: ['10.1.0.0/16'] }],
          ports: [tcp(80), tcp(1000, 2000), tcp(8080)],
        },
      ],
    ],
    [
      'nothing by a port that has no name there',
      { podSelector: onlyA, ingress: [{ ports: [{ port: 'admin' }] }] },
      [],
    ],
  ])('lets in %s', (_, spec, rules) => {
    expect(compile(spec)).toEqual([
      { name: 'default/p', direction: 'INGRESS', subjects: ['10.0.0.1'], rules },
    ]);
  });

  it('means by a port’s name what each selected Pod calls so', () => {
    const policies = compile({ podSelector: {}, ingress: [{ ports: [{ port: 'http' }] }] });
    expect(policies.map(({ subjects, rules }) => [subjects, rules[0]?.ports])).toEqual([
      [['10.0.0.1'], [tcp(8080)]],
      [['10.0.0.2'], [tcp(9090)]],
    ]);
  });

  it('tells ports of one name by their protocol, and knows those of sidecars', () => {
    const sidecar: Pod = {
      ...pod('a', '10.0.0.4'),
      spec: {
        initContainers: [
          {
            name: 's',
            restartPolicy: 'Always',
            ports: [{ name: 'http', containerPort: 7070, protocol: 'UDP' }],
          },
          { name: 'i', ports: [{ name: 'http', containerPort: 6060 }] },
        ],
        containers: [{ name: 'c' }],
      },
    };
    const spec = { podSelector: onlyA, ingress: [{ ports: [{ port: 'http', protocol: 'UDP' as const }] }] };
    const compiled = compilePolicies({
      policies: [policy(spec)],
      pods: [...pods, sidecar],
      namespaces,
      nameServer,
    });
    expect(compiled.map(({ subjects, rules }) => [subjects, rules[0]?.ports])).toEqual([
      [['10.0.0.1'], [{ protocol: 'UDP', port: 8081, endPort: 0 }]],
      [['10.0.0.4'], [{ protocol: 'UDP', port: 7070, endPort: 0 }]],
    ]);
  });

  it.each<[string, NonNullable<NonNullable<NetworkPolicy['spec']>['egress']>]>([
    ['by port 53', [{ ports: [{ port: 53, protocol: 'UDP' }] }]],
    [
      'by the labels of CoreDNS',
      [
        {
          to: [
            {
              namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'kube-system' } },
              podSelector: { matchLabels: { 'k8s-app': 'kube-dns' } },
            },
          ],
          ports: [{ port: 53, protocol: 'UDP' }],
        },
      ],
    ],
    ['by a range', [{ to: [{ ipBlock: { cidr: '0.0.0.0/0' } }], ports: [{ port: 53, protocol: 'UDP' }] }]],
  ])('lets out to the name server where it listens, %s', (_, egress) => {
    const [compiled] = compile({ podSelector: onlyA, policyTypes: ['Egress'], egress });
    expect(compiled?.rules).toContainEqual({
      peers: [{ addresses: ['172.30.0.1'] }],
      ports: [{ protocol: 'UDP', port: 4053 }],
    });
  });
});
