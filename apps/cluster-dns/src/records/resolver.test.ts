import type { RecordType } from 'dns-packet';
import { ClusterResolver } from './resolver';
import { db, dbSlice, outside, viewOf, web } from './test-view';

const resolver = new ClusterResolver(viewOf([web, db, outside], [dbSlice]), 'cluster.local');

function answers(name: string, type: RecordType): unknown {
  const resolution = resolver.resolve({ name, type });
  if (resolution.kind !== 'found') return resolution.kind;
  return resolution.answers.map((a) => ('data' in a ? a.data : undefined));
}

describe('ClusterResolver', () => {
  it.each<[string, string, RecordType, unknown]>([
    ['a Service leads to its cluster IP', 'web.default.svc.cluster.local', 'A', ['10.96.0.5']],
    ['names are compared without regard to case', 'WEB.Default.svc.cluster.LOCAL', 'A', ['10.96.0.5']],
    ['an IPv4 Service has no AAAA record', 'web.default.svc.cluster.local', 'AAAA', []],
    ['a Service that is not there', 'nope.default.svc.cluster.local', 'A', 'nxdomain'],
    ['a namespace that is not there', 'web.nope.svc.cluster.local', 'A', 'nxdomain'],
    ['a namespace exists without records of its own', 'default.svc.cluster.local', 'A', []],
    ['svc exists without records of its own', 'svc.cluster.local', 'A', []],
    ['neither svc nor pod', 'web.default.cluster.local', 'A', 'nxdomain'],
    [
      'a headless Service leads to its ready endpoints',
      'db.default.svc.cluster.local',
      'A',
      ['10.244.1.2', '10.244.2.2'],
    ],
    ['an endpoint with a hostname', 'db-0.db.default.svc.cluster.local', 'A', ['10.244.1.2']],
    ['an endpoint without one', '10-244-2-2.db.default.svc.cluster.local', 'A', ['10.244.2.2']],
    ['an endpoint that is not ready', '10-244-2-3.db.default.svc.cluster.local', 'A', 'nxdomain'],
    ['a Pod by its address', '10-244-1-2.default.pod.cluster.local', 'A', ['10.244.1.2']],
    ['a Pod by what is no address', '10-244-1-999.default.pod.cluster.local', 'A', 'nxdomain'],
    ['a Pod by an IPv6 address', 'fd00--1-2.default.pod.cluster.local', 'AAAA', ['fd00::1:2']],
    ['an ExternalName', 'outside.default.svc.cluster.local', 'A', ['example.com']],
    ['the reverse of a cluster IP', '5.0.96.10.in-addr.arpa', 'PTR', ['web.default.svc.cluster.local']],
    ['the reverse of an endpoint', '2.1.244.10.in-addr.arpa', 'PTR', ['db-0.db.default.svc.cluster.local']],
    ['the reverse of an unknown address', '9.9.9.9.in-addr.arpa', 'PTR', 'foreign'],
    ['a name outside of the cluster', 'example.com', 'A', 'foreign'],
    ['a name that only ends alike', 'notcluster.local', 'A', 'foreign'],
    ['the version of the specification', 'dns-version.cluster.local', 'TXT', ['1.1.0']],
    ['the zone itself', 'cluster.local', 'NS', ['ns.dns.cluster.local']],
  ])('%s: %s %s', (_, name, type, expected) => {
    expect(answers(name, type)).toEqual(expected);
  });

  it('has SRV records for named ports of a Service', () => {
    expect(resolver.resolve({ name: '_http._tcp.web.default.svc.cluster.local', type: 'SRV' })).toMatchObject(
      {
        kind: 'found',
        answers: [{ data: { priority: 0, weight: 100, port: 80, target: 'web.default.svc.cluster.local' } }],
        additionals: [{ type: 'A', name: 'web.default.svc.cluster.local', data: '10.96.0.5' }],
      },
    );
    expect(answers('_http._udp.web.default.svc.cluster.local', 'SRV')).toBe('nxdomain');
    expect(answers('_dns._udp.web.default.svc.cluster.local', 'SRV')).toMatchObject([{ port: 53 }]);
  });

  it('has SRV records for each endpoint of a headless Service', () => {
    expect(resolver.resolve({ name: '_pg._tcp.db.default.svc.cluster.local', type: 'SRV' })).toMatchObject({
      answers: [
        { data: { weight: 50, port: 5432, target: 'db-0.db.default.svc.cluster.local' } },
        { data: { weight: 50, port: 5432, target: '10-244-2-2.db.default.svc.cluster.local' } },
      ],
      additionals: [{ data: '10.244.1.2' }, { data: '10.244.2.2' }],
    });
  });

  it('does not know a headless Service without ready endpoints', () => {
    const lonely = new ClusterResolver(viewOf([db]), 'cluster.local');
    expect(lonely.resolve({ name: 'db.default.svc.cluster.local', type: 'A' })).toEqual({ kind: 'nxdomain' });
  });
});
