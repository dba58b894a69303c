import { useCluster } from '../../harness/cluster-fixture';

/** What a Pod is called, and by which names it finds others. */
const { run, apply, until } = useCluster(['--nodes=1', '--ephemeral']);

const pod = (name: string, spec: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, labels: { app: name } },
  spec: {
    terminationGracePeriodSeconds: 1,
    containers: [{ name: 'main', image: 'busybox', command: ['sleep', '3600'] }],
    ...spec,
  },
});
const ready = (name: string) => run(`wait --for=condition=Ready pod/${name} --timeout=120s`);
const inside = (name: string, script: string) => run(['exec', name, '--', 'sh', '-c', script]);
const resolvConf = async (name: string) => (await inside(name, 'cat /etc/resolv.conf')).trim().split('\n');

const clusterSearch = 'default.svc.cluster.local svc.cluster.local cluster.local';

it('dnsPolicy ClusterFirst, also of Pods in the node’s network if they ask for it', async () => {
  const hostNetwork = { hostNetwork: true };
  await apply(
    pod('first'),
    pod('host', hostNetwork),
    pod('host-first', { ...hostNetwork, dnsPolicy: 'ClusterFirstWithHostNet' }),
  );
  for (const name of ['first', 'host', 'host-first']) await ready(name);
  for (const name of ['first', 'host-first']) {
    const lines = await resolvConf(name);
    expect(lines).toContain('nameserver 10.96.0.10');
    expect(lines.find((line) => line.startsWith('search '))).toContain(`search ${clusterSearch}`);
    expect(lines).toContain('options ndots:5');
  }
  expect(await resolvConf('host')).not.toContain('nameserver 10.96.0.10');
  await until(async () =>
    expect(await inside('first', 'nslookup kubernetes.default')).toContain('10.96.0.1'),
  );
});

it('dnsPolicy Default and None, and what dnsConfig adds', async () => {
  const dnsConfig = {
    nameservers: ['192.0.2.1'],
    searches: ['ns1.svc.cluster-domain.example', 'my.dns.search.suffix'],
    options: [{ name: 'ndots', value: '2' }, { name: 'edns0' }],
  };
  await apply(
    pod('default', { dnsPolicy: 'Default' }),
    pod('none', { dnsPolicy: 'None', dnsConfig }),
    pod('more', { dnsConfig }),
  );
  for (const name of ['default', 'none', 'more']) await ready(name);
  expect(await resolvConf('default')).not.toContain('nameserver 10.96.0.10');
  // As https://kubernetes.io/docs/concepts/services-networking/dns-pod-service/ shows it.
  expect(await resolvConf('none')).toEqual([
    'search ns1.svc.cluster-domain.example my.dns.search.suffix',
    'nameserver 192.0.2.1',
    'options ndots:2 edns0',
  ]);
  const more = await resolvConf('more');
  expect(more).toEqual(expect.arrayContaining(['nameserver 10.96.0.10', 'nameserver 192.0.2.1']));
  expect(more).toContain('options ndots:2 edns0');
});

it('/etc/hosts: the Pod itself, and hostAliases', async () => {
  const hostAliases = [{ ip: '127.0.0.1', hostnames: ['foo.local', 'bar.local'] }];
  await apply(pod('aliases', { hostAliases }), pod('host-aliases', { hostAliases, hostNetwork: true }));
  await ready('aliases');
  await ready('host-aliases');
  const hosts = await inside('aliases', 'cat /etc/hosts');
  expect(hosts).toMatch(/^# Kubernetes-managed hosts file\.\n127\.0\.0\.1\tlocalhost\n/);
  expect(hosts).toMatch(/\n10\.244\.0\.\d+\taliases\n/);
  expect(hosts).toContain('\n# Entries added by HostAliases.\n127.0.0.1\tfoo.local\tbar.local\n');
  expect(await inside('host-aliases', 'cat /etc/hosts')).toMatch(
    /^# Kubernetes-managed hosts file \(host network\)\.\n[^]*foo\.local\tbar\.local\n$/,
  );
});

it('hostname, subdomain and setHostnameAsFQDN, which a headless Service makes a name of', async () => {
  await apply(
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'team' },
      spec: { clusterIP: 'None', selector: { app: 'member' }, ports: [{ port: 80 }] },
    },
    pod('member', { hostname: 'one', subdomain: 'team' }),
    pod('full', { hostname: 'two', subdomain: 'team', setHostnameAsFQDN: true }),
    pod('override', { hostnameOverride: 'any.name.example' }),
  );
  for (const name of ['member', 'full', 'override']) await ready(name);
  const domain = 'team.default.svc.cluster.local';
  expect(await inside('member', 'hostname; hostname -f')).toBe(`one\none.${domain}\n`);
  expect(await inside('full', 'hostname')).toBe(`two.${domain}\n`);
  expect(await inside('override', 'hostname')).toBe('any.name.example\n');
  expect(await inside('member', 'cat /etc/hosts')).toMatch(
    /\n10\.244\.0\.\d+\tone\.team\.default\.svc\.cluster\.local\tone\n/,
  );
  const ip = (await inside('member', 'hostname -i')).trim();
  await until(async () => expect(await inside('full', `nslookup one.${domain}`)).toContain(ip));
});

it('says which name servers a Pod does not get, and when its name is too long', async () => {
  const nameservers = ['192.0.2.1', '192.0.2.2', '192.0.2.3'];
  const hostname = 'a'.repeat(60);
  await apply(
    pod('many', { dnsConfig: { nameservers } }),
    pod('long', { hostname, subdomain: 'team', setHostnameAsFQDN: true }),
  );
  await ready('many');
  const events = (name: string) => run(`get events --field-selector=involvedObject.name=${name}`);
  await until(async () =>
    expect(await events('many')).toMatch(
      /Warning +DNSConfigForming +pod\/many +Nameserver limits were exceeded, some nameservers have been omitted, the applied nameserver line is: 10\.96\.0\.10 192\.0\.2\.1 192\.0\.2\.2/,
    ),
  );
  await until(async () =>
    expect(await events('long')).toMatch(
      /Warning +FailedCreatePodSandBox +pod\/long +Failed to create pod sandbox: failed to construct FQDN from Pod hostname and cluster domain, FQDN \S+ is too long \(64 characters is the max, 91 characters requested\)/,
    ),
  );
});
