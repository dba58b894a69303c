import type {
  LabelSelector,
  Namespace,
  NetworkPolicy,
  NetworkPolicyPeer,
  NetworkPolicyPort,
  Pod,
} from '@tinkernetes/api';
import { selectorOf } from '@tinkernetes/apimachinery';
import type { Policy, PolicyPeer, PolicyPort, PolicyRule, Protocol } from '@tinkernetes/vnet';
import { BlockList, isIPv4 } from 'node:net';

/** Where the cluster's name server is: no Pod, but policies mean it by the labels of the one that other clusters have. */
export interface NameServer {
  addresses: readonly string[];
  port: number;
}

export interface PolicyInputs {
  policies: readonly NetworkPolicy[];
  pods: readonly Pod[];
  namespaces: readonly Namespace[];
  nameServer: NameServer | undefined;
}

/** A Pod as policies see it. */
interface Member {
  namespace: string;
  labels: Readonly<Record<string, string>>;
  addresses: readonly string[];
  /** Its containers' ports by name and protocol: a Pod may call a TCP and a UDP port the same. */
  ports: ReadonlyMap<string, number>;
  isNameServer?: boolean;
}

interface Rule {
  peers: readonly NetworkPolicyPeer[];
  ports: readonly NetworkPolicyPort[];
}

const dnsPort = 53;

/**
 * What the node's network has to enforce.
 * Source: https://kubernetes.io/docs/concepts/services-networking/network-policies/
 */
export function compilePolicies({ policies, pods, namespaces, nameServer }: PolicyInputs): Policy[] {
  const members = pods.flatMap(memberOf);
  const compiler = new Compiler(members, namespaces, nameServer);
  return policies.flatMap((policy) => compiler.compile(policy));
}

/** Pods on their node's network are the node's, which policies don't isolate. */
function memberOf({ metadata, spec, status }: Pod): Member[] {
  const hasEnded = status?.phase === 'Succeeded' || status?.phase === 'Failed';
  const addresses = (status?.podIPs ?? []).flatMap(({ ip }) => (ip !== undefined && isIPv4(ip) ? [ip] : []));
  if (spec.hostNetwork === true || hasEnded || addresses.length === 0) return [];
  const sidecars = (spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
  const named = [...sidecars, ...spec.containers].flatMap(({ ports = [] }) =>
    ports.flatMap(({ name, containerPort, protocol }) =>
      name === undefined ? [] : [[portKey(name, protocol), containerPort] as const],
    ),
  );
  return [
    { namespace: metadata.namespace ?? '', labels: metadata.labels ?? {}, addresses, ports: new Map(named) },
  ];
}

class Compiler {
  private readonly namespaceLabels: ReadonlyMap<string, Readonly<Record<string, string>>>;
  private readonly peers: readonly Member[];

  constructor(
    private readonly members: readonly Member[],
    namespaces: readonly Namespace[],
    private readonly nameServer: NameServer | undefined,
  ) {
    this.namespaceLabels = new Map(
      namespaces.map(({ metadata }) => [metadata.name ?? '', metadata.labels ?? {}]),
    );
    const server: Member[] = nameServer
      ? [
          {
            namespace: 'kube-system',
            labels: { 'k8s-app': 'kube-dns' },
            addresses: nameServer.addresses,
            ports: new Map([
              [portKey('dns', 'UDP'), nameServer.port],
              [portKey('dns-tcp', 'TCP'), nameServer.port],
            ]),
            isNameServer: true,
          },
        ]
      : [];
    this.peers = [...members, ...server];
  }

  compile({ metadata, spec = {} }: NetworkPolicy): Policy[] {
    const namespace = metadata.namespace ?? '';
    const selected = selectorOf(spec.podSelector ?? {});
    const subjects = this.members.filter(
      (member) => member.namespace === namespace && selected.matches(member.labels),
    );
    const { ingress = [], egress = [] } = spec;
    const types = spec.policyTypes ?? (egress.length > 0 ? ['Ingress', 'Egress'] : ['Ingress']);
    const name = `${namespace}/${metadata.name ?? ''}`;
    const policies: Policy[] = [];
    if (types.includes('Ingress')) {
      const rules = ingress.map(({ from = [], ports = [] }) => ({ peers: from, ports }));
      policies.push(...this.ingress(name, namespace, { subjects, rules }));
    }
    if (types.includes('Egress'))
      policies.push({
        name,
        direction: 'EGRESS',
        subjects: subjects.flatMap(({ addresses }) => addresses),
        rules: egress.flatMap(({ to = [], ports = [] }) => this.egress({ peers: to, ports }, namespace)),
      });
    return policies.filter((policy) => policy.subjects.length > 0);
  }

  /** A port's name means what each of the selected Pods calls so. */
  private ingress(
    name: string,
    namespace: string,
    { subjects, rules }: { subjects: readonly Member[]; rules: readonly Rule[] },
  ): Policy[] {
    const isNamed = rules.some(({ ports }) => ports.some(({ port }) => typeof port === 'string'));
    const groups = isNamed ? subjects.map((subject) => [subject]) : [subjects];
    return groups.map((group) => ({
      name,
      direction: 'INGRESS',
      subjects: group.flatMap(({ addresses }) => addresses),
      rules: rules.flatMap(({ peers, ports }): PolicyRule[] => {
        const known = ports.flatMap((port) => portsOf(port, group[0]));
        // Nobody has a port of that name: the rule allows nothing, where no ports would allow all.
        if (ports.length > 0 && known.length === 0) return [];
        return [{ peers: peers.map((peer) => this.peerOf(peer, namespace)), ports: known }];
      }),
    }));
  }

  /** A port's name means what each of the Pods that are reached calls so. */
  private egress({ peers, ports }: Rule, namespace: string): PolicyRule[] {
    const own = peers.map((peer) => this.peerOf(peer, namespace));
    const numbered = ports.filter(({ port }) => typeof port !== 'string');
    const rules: PolicyRule[] = [];
    if (numbered.length > 0 || ports.length === 0)
      rules.push({ peers: own, ports: numbered.flatMap((port) => portsOf(port)) });
    const reached =
      peers.length === 0 ? this.peers : peers.flatMap((peer) => this.membersOf(peer, namespace));
    for (const port of ports.filter((p) => typeof p.port === 'string'))
      for (const member of reached) {
        const known = portsOf(port, member);
        if (known.length > 0) rules.push({ peers: [{ addresses: member.addresses }], ports: known });
      }
    return [...rules, ...this.toNameServer({ peers, ports }, { own, reached })];
  }

  /** Who may ask port 53 of the name server may do so where it really listens. */
  private toNameServer(
    { peers, ports }: Rule,
    { own, reached }: { own: readonly PolicyPeer[]; reached: readonly Member[] },
  ): PolicyRule[] {
    const { nameServer } = this;
    if (!nameServer) return [];
    const isMeant =
      peers.length === 0 ||
      reached.some(({ isNameServer }) => isNameServer) ||
      own.some((peer) => nameServer.addresses.some((address) => isInRange(address, peer)));
    if (!isMeant) return [];
    const protocols = ports
      .filter(
        ({ port, endPort }) => typeof port === 'number' && port <= dnsPort && (endPort ?? port) >= dnsPort,
      )
      .map(({ protocol }): PolicyPort => ({ protocol: protocolOf(protocol), port: nameServer.port }));
    if (protocols.length === 0) return [];
    return [{ peers: [{ addresses: nameServer.addresses }], ports: protocols }];
  }

  private peerOf(peer: NetworkPolicyPeer, namespace: string): PolicyPeer {
    if (peer.ipBlock) return { cidr: peer.ipBlock.cidr, except: peer.ipBlock.except ?? [] };
    return { addresses: this.membersOf(peer, namespace).flatMap(({ addresses }) => addresses) };
  }

  /** Without a namespace selector: of the policy's namespace. Without a Pod selector: all of the namespaces. */
  private membersOf(
    { ipBlock, namespaceSelector, podSelector }: NetworkPolicyPeer,
    namespace: string,
  ): Member[] {
    if (ipBlock) return [];
    const isPod = matcherOf(podSelector ?? {});
    const isNamespace = namespaceSelector && matcherOf(namespaceSelector);
    return this.peers.filter(
      (member) =>
        (isNamespace
          ? isNamespace(this.namespaceLabels.get(member.namespace) ?? {})
          : member.namespace === namespace) && isPod(member.labels),
    );
  }
}

function matcherOf(selector: LabelSelector): (labels: Readonly<Record<string, string>>) => boolean {
  const parsed = selectorOf(selector);
  return (labels) => parsed.matches(labels);
}

const protocolOf = (protocol: string | undefined): Protocol =>
  protocol === 'UDP' || protocol === 'SCTP' ? protocol : 'TCP';

const portKey = (name: string, protocol: string | undefined): string => `${protocolOf(protocol)}/${name}`;

/** None where the Pod has no port of that name. */
function portsOf({ port, endPort, protocol }: NetworkPolicyPort, member?: Member): PolicyPort[] {
  const number = typeof port === 'string' ? member?.ports.get(portKey(port, protocol)) : (port ?? 0);
  return number === undefined
    ? []
    : [{ protocol: protocolOf(protocol), port: number, endPort: endPort ?? 0 }];
}

function isInRange(address: string, { cidr, except = [] }: PolicyPeer): boolean {
  if (cidr === undefined) return false;
  const within = (range: string): boolean => {
    const [base = '', prefix = '32'] = range.split('/');
    if (!isIPv4(base)) return false;
    const list = new BlockList();
    list.addSubnet(base, Number(prefix));
    return list.check(address);
  };
  return within(cidr) && !except.some(within);
}
