import type { Endpoints } from '@tinkernetes/api';
import { groupsOf, mirroredAnnotations, shouldMirror } from './mirror';

const endpoints = (metadata: Partial<Endpoints['metadata']>): Endpoints => ({
  metadata: { name: 'e', ...metadata },
});

it.each([
  ['are mirrored', {}, true],
  ['that say so are not', { labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } }, false],
  [
    'that elect a leader are not',
    { annotations: { 'control-plane.alpha.kubernetes.io/leader': '{}' } },
    false,
  ],
])('Endpoints %s', (_, metadata, expected) => {
  expect(shouldMirror(endpoints(metadata))).toBe(expected);
});

it('mirrors annotations, less those that are about the Endpoints as such', () => {
  const annotations = {
    'endpoints.kubernetes.io/last-change-trigger-time': '2026-01-01T00:00:00Z',
    'kubectl.kubernetes.io/last-applied-configuration': '{}',
    team: 'a',
  };
  expect(mirroredAnnotations(endpoints({ annotations }))).toEqual({ team: 'a' });
  expect(mirroredAnnotations(endpoints({}))).toEqual({});
});

describe('groupsOf', () => {
  const subset = {
    addresses: [{ ip: '10.0.0.1', hostname: 'a', nodeName: 'n1' }, { ip: 'fd00::1' }],
    notReadyAddresses: [{ ip: '10.0.0.2' }],
    ports: [{ port: 80 }, { name: 'dns', port: 53, protocol: 'UDP' as const, appProtocol: 'dns' }],
  };
  const ports = [
    { name: '', port: 80, protocol: 'TCP' },
    { name: 'dns', port: 53, protocol: 'UDP', appProtocol: 'dns' },
  ];

  it('has the addresses of one family, ready or not, with the ports', () => {
    expect(groupsOf([subset], 'IPv4')).toEqual([
      {
        ports,
        endpoints: [
          { addresses: ['10.0.0.1'], conditions: { ready: true }, hostname: 'a', nodeName: 'n1' },
          { addresses: ['10.0.0.2'], conditions: { ready: false } },
        ],
      },
    ]);
    expect(groupsOf([subset], 'IPv6')).toEqual([
      { ports, endpoints: [{ addresses: ['fd00::1'], conditions: { ready: true } }] },
    ]);
  });

  it('leaves out subsets without an address of the family', () => {
    expect(groupsOf([{ addresses: [{ ip: '10.0.0.1' }] }, {}], 'IPv6')).toEqual([]);
  });

  it('cuts a subset at 1000', () => {
    const addresses = Array.from({ length: 1200 }, (_, i) => ({ ip: `10.0.${i >> 8}.${i & 255}` }));
    expect(groupsOf([{ addresses }], 'IPv4')[0]?.endpoints).toHaveLength(1000);
  });
});
