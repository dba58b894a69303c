import { IPAddresses, ServiceCIDRs, type IPAddress, type KubeObject } from '@tinkernetes/api';
import { findCondition, isAlreadyExists, isNotFound, parseCidr } from '@tinkernetes/apimachinery';
import type { Random } from '@tinkernetes/component-base';
import type { StoreRegistry } from '../contracts';
import { IpRange } from './ip-range';

export class IpAllocationError extends Error {
  override readonly name = 'IpAllocationError';
}

/**
 * Cluster IPs, from the server's own range and from ServiceCIDRs that are ready. Each one that is taken is an IPAddress
 * object, so that no two API servers give the same one away. Source: KEP-1880.
 */
export class ClusterIps {
  private readonly parsed = new Map<string, IpRange>();

  constructor(
    private readonly range: IpRange,
    private readonly stores: () => StoreRegistry,
    private readonly random: Random,
  ) {}

  /** Takes this very address for the Service; throws IpAllocationError. */
  async take(address: string, service: KubeObject, dryRun: boolean): Promise<void> {
    const ranges = this.ranges();
    if (!ranges.some((range) => range.contains(address))) throw outOfRange(address, dryRun ? ranges : []);
    if (this.stores().for(IPAddresses).peek(address)) throw alreadyAllocated();
    if (dryRun) return;
    try {
      await this.stores().for(IPAddresses).create(ipAddressOf(address, service));
    } catch (error) {
      if (isAlreadyExists(error)) throw alreadyAllocated();
      throw error;
    }
  }

  /** Takes any free address. */
  async takeNext(service: KubeObject, dryRun: boolean): Promise<string> {
    const addresses = this.stores().for(IPAddresses);
    for (const candidate of this.candidates()) {
      if (addresses.peek(candidate)) continue;
      try {
        await this.take(candidate, service, dryRun);
        return candidate;
      } catch (error) {
        if (!(error instanceof IpAllocationError)) throw error;
      }
    }
    throw new IpAllocationError('range is full');
  }

  private *candidates(): Iterable<string> {
    for (const range of this.ranges()) yield* range.candidates(this.random);
  }

  /** A range that is being deleted, or that its controller has not seen yet, gives nothing away. */
  private ranges(): IpRange[] {
    const ready = this.stores()
      .for(ServiceCIDRs)
      .list()
      .filter(
        ({ metadata, status }) =>
          !metadata.deletionTimestamp && findCondition(status?.conditions, 'Ready')?.status === 'True',
      )
      .flatMap(({ spec }) => spec?.cidrs ?? [])
      .filter((cidr) => cidr !== this.range.cidr && isUsable(cidr));
    return [this.range, ...ready.map((cidr) => this.rangeOf(cidr))];
  }

  private rangeOf(cidr: string): IpRange {
    const range = this.parsed.get(cidr) ?? new IpRange(cidr);
    this.parsed.set(cidr, range);
    return range;
  }

  async release(address: string): Promise<void> {
    try {
      await this.stores().for(IPAddresses).delete(address);
    } catch (error) {
      // Released already, or never recorded.
      if (!isNotFound(error)) throw error;
    }
  }
}

/** Services have IPv4 addresses here. */
function isUsable(cidr: string): boolean {
  const range = parseCidr(cidr);
  return range?.family === 'IPv4' && range.bits <= 30;
}

const alreadyAllocated = (): IpAllocationError => new IpAllocationError('provided IP is already allocated');

function ipAddressOf(address: string, { metadata }: KubeObject): IPAddress {
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'IPAddress',
    metadata: {
      name: address,
      labels: {
        'ipaddress.kubernetes.io/ip-family': 'IPv4',
        'ipaddress.kubernetes.io/managed-by': 'ipallocator.k8s.io',
      },
    },
    spec: { parentRef: { resource: 'services', namespace: metadata.namespace, name: metadata.name } },
  };
}

/** Trials ask one range, which tells itself; otherwise none is found for the address. */
function outOfRange(address: string, [range]: readonly IpRange[]): IpAllocationError {
  return new IpAllocationError(
    range
      ? `the provided IP (${address}) is not in the valid range. The range of valid IPs is ${range.cidr}`
      : 'the provided network does not match the current range',
  );
}
