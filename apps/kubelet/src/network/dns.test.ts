import type { Pod } from '@tinkernetes/api';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { podDNS } from './dns';
import { podHostname } from './pod-hostname';

const directory = mkdtempSync(join(tmpdir(), 'dns-'));
const resolvConf = join(directory, 'resolv.conf');
beforeAll(() =>
  writeFileSync(resolvConf, 'nameserver 192.0.2.9\nsearch office.example\noptions timeout:3\n'),
);
afterAll(() => rmSync(directory, { recursive: true }));

const settings = { clusterDNS: ['10.96.0.10'], clusterDomain: 'cluster.local', resolvConf };
const pod = (spec: Partial<Pod['spec']> = {}): Pod => ({
  metadata: { name: 'p', namespace: 'ns', uid: 'u' },
  spec: { containers: [], ...spec },
});
const cluster = {
  servers: ['10.96.0.10'],
  searches: ['ns.svc.cluster.local', 'svc.cluster.local', 'cluster.local', 'office.example'],
  options: ['ndots:5'],
};
const host = { servers: ['192.0.2.9'], searches: ['office.example'], options: ['timeout:3'] };

describe('podDNS', () => {
  it.each<[string, Partial<Pod['spec']>, object]>([
    ['the cluster’s', {}, cluster],
    ['the node’s in its network', { hostNetwork: true }, host],
    ['the cluster’s all the same', { hostNetwork: true, dnsPolicy: 'ClusterFirstWithHostNet' }, cluster],
    ['the node’s', { dnsPolicy: 'Default' }, host],
    ['none', { dnsPolicy: 'None' }, { servers: [], searches: [], options: [] }],
    [
      'more, and other options',
      {
        dnsConfig: {
          nameservers: ['192.0.2.1'],
          options: [{ name: 'ndots', value: '2' }, { name: 'edns0' }],
        },
      },
      { ...cluster, servers: ['10.96.0.10', '192.0.2.1'], options: ['ndots:2', 'edns0'] },
    ],
  ])('gives %s', (_, spec, expected) => {
    expect(podDNS(pod(spec), settings)).toEqual({ config: expected, warnings: [] });
  });

  it('says what it leaves out of a list that is too long', () => {
    const nameservers = ['192.0.2.1', '192.0.2.2', '192.0.2.3'];
    const searches = Array.from({ length: 40 }, (_, i) => `s${i}.example`);
    const { config, warnings } = podDNS(pod({ dnsConfig: { nameservers, searches } }), settings);
    expect(config.servers).toEqual(['10.96.0.10', '192.0.2.1', '192.0.2.2']);
    expect(config.searches).toHaveLength(32);
    expect(warnings).toEqual([
      [
        'DNSConfigForming',
        `Search Line limits were exceeded, some search paths have been omitted, the applied search line is: ${config.searches.join(' ')}`,
      ],
      [
        'DNSConfigForming',
        'Nameserver limits were exceeded, some nameservers have been omitted, the applied nameserver line is: 10.96.0.10 192.0.2.1 192.0.2.2',
      ],
    ]);
  });

  it('falls back to the node’s where the cluster has none, and says so', () => {
    const { config, warnings } = podDNS(pod(), { ...settings, clusterDNS: [] });
    expect(config).toEqual(host);
    expect(warnings).toMatchObject([
      ['MissingClusterDNS', expect.stringContaining('Falling back to "Default"')],
    ]);
  });
});

it('refuses a full host name that the kernel would not take', () => {
  const named = pod({ hostname: 'h'.repeat(40), subdomain: 'team', setHostnameAsFQDN: true });
  expect(() => podHostname(named, 'cluster.local')).toThrow(
    /^failed to construct FQDN from Pod hostname and cluster domain, FQDN h+\.team\.ns\.svc\.cluster\.local is too long \(64 characters is the max, 66 characters requested\)$/,
  );
});
