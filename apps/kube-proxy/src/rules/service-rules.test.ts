import type { Endpoint, EndpointSlice, Service, ServiceSpec } from '@tinkernetes/api';
import { serviceRules } from './service-rules';

const service = (spec: Partial<ServiceSpec>, extra: Partial<Service> = {}): Service => ({
  metadata: { name: 'web', namespace: 'default', ...extra.metadata },
  spec: { clusterIP: '10.96.0.5', ports: [{ name: 'http', port: 80, protocol: 'TCP' }], ...spec },
  status: extra.status,
});
const slice = (endpoints: Endpoint[], addressType: 'IPv4' | 'IPv6' = 'IPv4'): EndpointSlice => ({
  metadata: { name: 'web-1', namespace: 'default' },
  addressType,
  endpoints,
  ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
});
const endpoint = (
  address: string,
  nodeName: string,
  conditions: Endpoint['conditions'] = { ready: true },
): Endpoint => ({
  addresses: [address],
  nodeName,
  conditions,
});
const rulesOf = (s: Service, slices: EndpointSlice[], zone?: string) =>
  serviceRules({ service: s, slices, topology: { nodeName: 'node-1', zone }, podCIDRs: ['10.244.1.0/24'] });
const addresses = (rules: ReturnType<typeof rulesOf>) =>
  rules.map((r) => r.endpoints?.map((e) => e.address) ?? r.action);

const here = endpoint('10.244.1.2', 'node-1');
const there = endpoint('10.244.2.2', 'node-2');
const dying = (address: string, node: string) =>
  endpoint(address, node, { ready: false, serving: true, terminating: true });
const dead = (address: string, node: string) =>
  endpoint(address, node, { ready: false, serving: false, terminating: true });

describe('serviceRules', () => {
  it('sends the cluster IP to all ready endpoints at their target port', () => {
    expect(
      rulesOf(service({}), [slice([here, there, endpoint('10.244.2.3', 'node-2', { ready: false })])]),
    ).toEqual([
      {
        name: 'default/web:http',
        protocol: 'TCP',
        port: 80,
        destinations: ['10.96.0.5'],
        action: 'DNAT',
        endpoints: [
          { address: '10.244.1.2', port: 8080 },
          { address: '10.244.2.2', port: 8080 },
        ],
      },
    ]);
  });

  it.each<[string, Service]>([
    ['headless', service({ clusterIP: 'None' })],
    ['without an address yet', service({ clusterIP: undefined })],
    ['ExternalName', service({ type: 'ExternalName', externalName: 'example.com' })],
    [
      'left to another proxy',
      service({}, { metadata: { name: 'web', labels: { 'service.kubernetes.io/service-proxy-name': 'x' } } }),
    ],
  ])('has nothing to do for a Service that is %s', (_, s) => {
    expect(rulesOf(s, [slice([here])])).toEqual([]);
  });

  it.each<[string, Endpoint[], unknown]>([
    ['refuses when nobody serves', [], 'REJECT'],
    ['refuses when the only endpoints are dead', [dead('10.244.1.9', 'node-1')], 'REJECT'],
    ['falls back to endpoints that end but still serve', [dying('10.244.1.8', 'node-1')], ['10.244.1.8']],
    ['prefers a ready endpoint to ending ones', [dying('10.244.1.8', 'node-1'), there], ['10.244.2.2']],
    ['takes an endpoint without conditions for ready', [{ addresses: ['10.244.2.9'] }], ['10.244.2.9']],
  ])('%s', (_, endpoints, expected) => {
    expect(addresses(rulesOf(service({}), [slice(endpoints)]))).toEqual([expected]);
  });

  it.each<[string, Endpoint[], unknown]>([
    ['uses only this node', [here, there], ['10.244.1.2']],
    ['is silent when only other nodes have endpoints', [there], 'DROP'],
    ['refuses when no node has any', [], 'REJECT'],
    ['keeps to an ending endpoint of this node', [dying('10.244.1.8', 'node-1'), there], ['10.244.1.8']],
  ])('internalTrafficPolicy Local %s', (_, endpoints, expected) => {
    expect(addresses(rulesOf(service({ internalTrafficPolicy: 'Local' }), [slice(endpoints)]))).toEqual([
      expected,
    ]);
  });

  it('masquerades what comes from outside by a node port', () => {
    const rules = rulesOf(
      service({ type: 'NodePort', ports: [{ name: 'http', port: 80, nodePort: 30080 }] }),
      [slice([there])],
    );
    expect(rules[1]).toEqual({
      name: 'default/web:http',
      protocol: 'TCP',
      port: 30080,
      nodePort: true,
      action: 'DNAT',
      endpoints: [{ address: '10.244.2.2', port: 8080 }],
      masquerade: true,
    });
  });

  it("keeps the client's address with externalTrafficPolicy Local, but lets own Pods go anywhere", () => {
    const s = service({
      type: 'NodePort',
      externalTrafficPolicy: 'Local',
      ports: [{ name: 'http', port: 80, nodePort: 30080 }],
    });
    const [, ownPods, outside] = rulesOf(s, [slice([here, there])]);
    expect(ownPods).toMatchObject({ sourceRanges: ['10.244.1.0/24'], endpoints: [{}, {}] });
    expect(outside).toMatchObject({ action: 'DNAT', endpoints: [{ address: '10.244.1.2' }] });
    expect(outside?.masquerade).toBeUndefined();
    expect(addresses(rulesOf(s, [slice([there])]))).toEqual([['10.244.2.2'], ['10.244.2.2'], 'DROP']);
  });

  it('serves external IPs and load balancer addresses, within the allowed source ranges', () => {
    const s = service(
      { type: 'LoadBalancer', externalIPs: ['192.0.2.1'], loadBalancerSourceRanges: ['198.51.100.0/24'] },
      {
        status: { loadBalancer: { ingress: [{ ip: '192.0.2.7' }, { ip: '192.0.2.8', ipMode: 'Proxy' }] } },
      } as Partial<Service>,
    );
    const [, external, allowed, others] = rulesOf(s, [slice([there])]);
    expect(external).toMatchObject({ destinations: ['192.0.2.1'], action: 'DNAT', masquerade: true });
    expect(allowed).toMatchObject({
      destinations: ['192.0.2.7'],
      sourceRanges: ['198.51.100.0/24'],
      action: 'DNAT',
    });
    expect(others).toMatchObject({ destinations: ['192.0.2.7'], action: 'DROP' });
  });

  it('binds clients to an endpoint for as long as the Service says, three hours by default', () => {
    const affinity = (spec: Partial<ServiceSpec>) =>
      rulesOf(service(spec), [slice([here])])[0]?.affinitySeconds;
    expect(affinity({ sessionAffinity: 'ClientIP' })).toBe(10_800);
    expect(
      affinity({ sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 60 } } }),
    ).toBe(60);
    expect(affinity({})).toBeUndefined();
  });

  it('takes endpoints of the address family only', () => {
    const s = service({ clusterIPs: ['10.96.0.5', 'fd00::5'] });
    expect(addresses(rulesOf(s, [slice([here]), slice([endpoint('fd00:1::2', 'node-2')], 'IPv6')]))).toEqual([
      ['10.244.1.2'],
      ['fd00:1::2'],
    ]);
  });

  const inZone = (e: Endpoint, zone: string): Endpoint => ({ ...e, hints: { forZones: [{ name: zone }] } });
  const onNode = (e: Endpoint, node: string): Endpoint => ({ ...e, hints: { forNodes: [{ name: node }] } });
  it.each<[string, Endpoint[], unknown]>([
    ['stays in the zone', [inZone(here, 'a'), inZone(there, 'b')], ['10.244.1.2']],
    ['ignores hints while an endpoint has none', [inZone(here, 'a'), there], ['10.244.1.2', '10.244.2.2']],
    [
      'ignores hints that leave this zone without endpoints',
      [inZone(here, 'b'), inZone(there, 'b')],
      ['10.244.1.2', '10.244.2.2'],
    ],
    ['stays on the node', [onNode(here, 'node-1'), onNode(there, 'node-2')], ['10.244.1.2']],
  ])('with topology hints %s', (_, endpoints, expected) => {
    expect(addresses(rulesOf(service({}), [slice(endpoints)], 'a'))).toEqual([expected]);
  });
});
