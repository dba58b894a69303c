/** The messages of proto/vnet/v1/vnet.proto as TypeScript reads them; the .proto says what each field means. */

export type Protocol = 'TCP' | 'UDP' | 'SCTP';

export interface NodeInfo {
  name: string;
  address: string;
  overlayEndpoint: string;
  podCidr: string;
}

export interface InterfaceRoute {
  destination: string;
  gateway?: string;
}

export interface AttachRequest {
  netns: string;
  ifname: string;
  bridge: string;
  /** CIDR notation. */
  addresses: readonly string[];
  gateway?: string;
  routes?: readonly InterfaceRoute[];
  mac?: string;
  ipMasq?: boolean;
  hairpin?: boolean;
  mtu?: number;
}

export interface AttachResponse {
  bridgeMac: string;
  hostIfname: string;
  hostMac: string;
  mac: string;
}

export interface InterfaceInfo {
  name: string;
  mac: string;
  addresses: readonly string[];
  bridge: string;
  hostIfname: string;
  rxBytes: number;
  txBytes: number;
}

export interface Address {
  host: string;
  port: number;
}

export type RuleAction = 'DNAT' | 'REJECT' | 'DROP' | 'REDIRECT';

/** One rule of a node's NAT table; the first rule that matches decides. */
export interface Rule {
  /** Shown by a trace: `default/web:http`. */
  name: string;
  protocol: Protocol;
  /** Destination addresses; left out with `nodePort`. */
  destinations?: readonly string[];
  port: number;
  /** Matches every address of the node and opens the port on the host's loopback. */
  nodePort?: boolean;
  /** Source ranges that may use it (loadBalancerSourceRanges); none: all. */
  sourceRanges?: readonly string[];
  action: RuleAction;
  /** DNAT: one is chosen at random for each new connection. */
  endpoints?: readonly RuleEndpoint[];
  /** ClientIP session affinity for this long; 0: none. */
  affinitySeconds?: number;
  /** The source becomes the node's address. */
  masquerade?: boolean;
  /** REDIRECT: the node's port that a userspace proxy listens on. */
  redirectPort?: number;
}

export interface RuleEndpoint {
  address: string;
  port: number;
}

/** How another node's range is reached. */
export interface Route {
  /** CIDR notation, e.g. another node's podCIDR. */
  destination: string;
  /** The other node's address in the underlay. */
  gateway: string;
  /** IP:PORT of the other node's overlay: its Node annotation `vnet.tinkernetes.dev/endpoint`. */
  endpoint: string;
}

/** Isolates Pods in one direction: of policies that have the same subject, one rule has to allow a flow. */
export interface Policy {
  /** Shown by a trace: `default/deny-all`. */
  name: string;
  direction: 'INGRESS' | 'EGRESS';
  /** Addresses of the Pods that it isolates. */
  subjects: readonly string[];
  rules: readonly PolicyRule[];
}

export interface PolicyRule {
  /** None: everybody. */
  peers: readonly PolicyPeer[];
  /** None: every port. */
  ports: readonly PolicyPort[];
}

export interface PolicyPeer {
  /** Of Pods. */
  addresses?: readonly string[];
  cidr?: string;
  except?: readonly string[];
}

export interface PolicyPort {
  protocol: Protocol;
  /** 0 or left out: every port of the protocol. */
  port?: number;
  endPort?: number;
}

export interface TraceRequest {
  netns?: string;
  source?: string;
  destination: string;
  port: number;
  protocol?: Protocol;
}

export interface Hop {
  node: string;
  where: string;
  decision: string;
}

/** The Node annotation that tells other nodes where a node's overlay is reached: `IP:PORT`. */
export const endpointAnnotation = 'vnet.tinkernetes.dev/endpoint';
