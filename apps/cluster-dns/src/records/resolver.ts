import type { Service } from '@tinkernetes/api';
import type { Answer, Question, RecordType } from 'dns-packet';
import type { ClusterView } from './cluster-view';
import { readyEndpoints, labelOf, type NamedEndpoint } from './endpoint-records';
import { addressOfReverseName, isIPv6, undashed } from './names';

/** Seconds; CoreDNS's `ttl 30` of a kubeadm cluster. */
const recordTTL = 30;

export type Resolution =
  /** Records; none: the name exists, but has no record of this type. */
  | { kind: 'found'; answers: Answer[]; additionals?: Answer[] }
  | { kind: 'nxdomain' }
  /** The name lies outside of the cluster. */
  | { kind: 'foreign' };

/** A name that exists, before it is known which of its records were asked for. */
interface Target {
  addresses: readonly string[];
  /** Ports under which SRV answers, with the name each leads to. */
  services: readonly SrvTarget[];
  cname?: string;
}
interface SrvTarget {
  port: number;
  target: string;
  addresses: readonly string[];
}

const empty: Target = { addresses: [], services: [] };

/**
 * Answers from what the cluster has. Pure but for the view. Source: Kubernetes DNS-based service discovery 1.1.0
 * (github.com/kubernetes/dns, docs/specification.md); behaviour where it is silent is that of CoreDNS's kubernetes plugin.
 */
export class ClusterResolver {
  private readonly domain: string;

  constructor(
    private readonly view: ClusterView,
    domain: string,
  ) {
    this.domain = domain.toLowerCase().replace(/\.$/, '');
  }

  resolve({ name: asked, type }: Question): Resolution {
    const name = asked.toLowerCase().replace(/\.$/, '');
    const reversed = addressOfReverseName(name);
    if (reversed !== undefined) return this.pointer(asked, type, reversed);
    if (name !== this.domain && !name.endsWith(`.${this.domain}`)) return { kind: 'foreign' };
    const labels = name === this.domain ? [] : name.slice(0, -this.domain.length - 1).split('.');
    const special = this.zoneRecord(asked, type, labels.join('.'));
    if (special) return special;
    const target = this.lookUp(labels);
    return target ? this.recordsOf(asked, type, target) : { kind: 'nxdomain' };
  }

  /** For the authority section of an answer without records (RFC 2308). */
  authority(): Answer {
    return {
      type: 'SOA',
      name: this.domain,
      ttl: recordTTL,
      class: 'IN',
      data: {
        mname: `ns.dns.${this.domain}`,
        rname: `hostmaster.${this.domain}`,
        serial: 1,
        refresh: 7200,
        retry: 1800,
        expire: 86_400,
        minimum: recordTTL,
      },
    };
  }

  private zoneRecord(asked: string, type: RecordType, relative: string): Resolution | undefined {
    if (relative === '') {
      if (type === 'SOA') return { kind: 'found', answers: [{ ...this.authority(), name: asked } as Answer] };
      if (type === 'NS') return { kind: 'found', answers: [record(asked, 'NS', `ns.dns.${this.domain}`)] };
      return { kind: 'found', answers: [] };
    }
    if (relative !== 'dns-version') return undefined;
    const answers = type === 'TXT' ? [{ ...base(asked), type: 'TXT' as const, data: '1.1.0' }] : [];
    return { kind: 'found', answers };
  }

  private lookUp(labels: readonly string[]): Target | undefined {
    const kind = labels.at(-1);
    const namespace = labels.at(-2);
    const rest = labels.slice(0, -2);
    if (kind !== 'svc' && kind !== 'pod') return undefined;
    if (namespace === undefined) return empty;
    if (!this.view.namespaceExists(namespace)) return undefined;
    if (rest.length === 0) return empty;
    return kind === 'pod' ? podTarget(rest) : this.serviceTarget(namespace, rest);
  }

  private serviceTarget(namespace: string, labels: readonly string[]): Target | undefined {
    const serviceName = labels.at(-1) ?? '';
    const service = this.view.service(namespace, serviceName);
    if (!service) return undefined;
    const prefix = labels.slice(0, -1);
    const { type, externalName } = service.spec ?? {};
    if (type === 'ExternalName') return prefix.length === 0 ? { ...empty, cname: externalName } : undefined;
    const serviceDomain = `${serviceName}.${namespace}.svc.${this.domain}`;
    const [first = '', second = ''] = prefix;
    if (prefix.length === 0) return this.wholeService(service, serviceDomain);
    if (prefix.length === 2 && first.startsWith('_') && second.startsWith('_')) {
      const wanted = { name: first.slice(1), protocol: second.slice(1).toUpperCase() };
      return this.namedPort(service, serviceDomain, wanted);
    }
    if (prefix.length !== 1) return undefined;
    const endpoint = this.endpointsOf(service).filter((e) => e.label === first);
    return endpoint.length === 0 ? undefined : endpointTarget(endpoint, serviceDomain);
  }

  private wholeService(service: Service, serviceDomain: string): Target | undefined {
    if (!isHeadless(service)) {
      const addresses = clusterIPsOf(service);
      const ports = service.spec?.ports ?? [];
      return { addresses, services: ports.map(({ port }) => ({ port, target: serviceDomain, addresses })) };
    }
    const endpoints = this.endpointsOf(service);
    return endpoints.length === 0 ? undefined : endpointTarget(endpoints, serviceDomain);
  }

  private namedPort(
    service: Service,
    serviceDomain: string,
    wanted: { name: string; protocol: string },
  ): Target | undefined {
    const matches = (p: { name?: string; protocol?: string }) =>
      p.name?.toLowerCase() === wanted.name && (p.protocol ?? 'TCP') === wanted.protocol;
    const services = isHeadless(service)
      ? this.endpointsOf(service).flatMap((e) => srvTargets(e, serviceDomain, matches))
      : (service.spec?.ports ?? [])
          .filter(matches)
          .map(({ port }) => ({ port, target: serviceDomain, addresses: clusterIPsOf(service) }));
    return services.length === 0 ? undefined : { addresses: [], services };
  }

  private endpointsOf({ metadata }: Service): NamedEndpoint[] {
    return readyEndpoints(this.view.slicesOf(metadata.namespace ?? '', metadata.name));
  }

  private recordsOf(asked: string, type: RecordType, target: Target): Resolution {
    if (target.cname !== undefined) {
      const wanted = type === 'CNAME' || type === 'A' || type === 'AAAA';
      return {
        kind: 'found',
        answers: wanted ? [record(asked, 'CNAME', target.cname.replace(/\.$/, ''))] : [],
      };
    }
    if (type === 'A' || type === 'AAAA')
      return { kind: 'found', answers: addressRecords(asked, target.addresses, type) };
    if (type !== 'SRV') return { kind: 'found', answers: [] };
    const weight = Math.max(1, Math.floor(100 / Math.max(1, target.services.length)));
    const additionals = new Map(target.services.map((s) => [s.target, s.addresses]));
    return {
      kind: 'found',
      answers: target.services.map(({ port, target: name }) => ({
        ...base(asked),
        type: 'SRV' as const,
        data: { priority: 0, weight, port, target: name },
      })),
      additionals: [...additionals].flatMap(([name, addresses]) => [
        ...addressRecords(name, addresses, 'A'),
        ...addressRecords(name, addresses, 'AAAA'),
      ]),
    };
  }

  private pointer(asked: string, type: RecordType, address: string): Resolution {
    const names = this.namesOf(address);
    if (names.length === 0) return { kind: 'foreign' };
    return { kind: 'found', answers: type === 'PTR' ? names.map((name) => record(asked, 'PTR', name)) : [] };
  }

  private namesOf(address: string): string[] {
    const service = this.view.serviceByIP(address);
    if (service) return [`${service.metadata.name}.${service.metadata.namespace}.svc.${this.domain}`];
    const names = this.view.slicesByIP(address).flatMap(({ metadata, endpoints = [] }) => {
      const namespace = metadata.namespace ?? '';
      const owner = this.view.service(namespace, metadata.labels?.['kubernetes.io/service-name'] ?? '');
      const endpoint = endpoints.find((e) => e.addresses.includes(address) && e.conditions?.ready !== false);
      if (!owner || !endpoint) return [];
      return [`${labelOf(endpoint, address)}.${owner.metadata.name}.${namespace}.svc.${this.domain}`];
    });
    return [...new Set(names)];
  }
}

function podTarget(labels: readonly string[]): Target | undefined {
  const address = labels.length === 1 ? undashed(labels[0] ?? '') : undefined;
  return address === undefined ? undefined : { addresses: [address], services: [] };
}

function endpointTarget(endpoints: readonly NamedEndpoint[], serviceDomain: string): Target {
  return {
    addresses: endpoints.map((e) => e.address),
    services: endpoints.flatMap((e) => srvTargets(e, serviceDomain, () => true)),
  };
}

function srvTargets(
  endpoint: NamedEndpoint,
  serviceDomain: string,
  wanted: (port: NamedEndpoint['ports'][number]) => boolean,
): SrvTarget[] {
  const target = `${endpoint.label}.${serviceDomain}`;
  return endpoint.ports.filter(wanted).map(({ port }) => ({ port, target, addresses: [endpoint.address] }));
}

function isHeadless({ spec }: Service): boolean {
  return !spec?.clusterIP || spec.clusterIP === 'None';
}

function clusterIPsOf({ spec }: Service): readonly string[] {
  return spec?.clusterIPs?.length ? spec.clusterIPs : spec?.clusterIP ? [spec.clusterIP] : [];
}

function base(name: string) {
  return { name, ttl: recordTTL, class: 'IN' as const };
}

function record(name: string, type: 'NS' | 'CNAME' | 'PTR' | 'A' | 'AAAA', data: string): Answer {
  return { ...base(name), type, data };
}

function addressRecords(name: string, addresses: readonly string[], type: 'A' | 'AAAA'): Answer[] {
  return addresses
    .filter((a) => isIPv6(a) === (type === 'AAAA'))
    .map((address) => record(name, type, address));
}
