import { parseCidr } from '@tinkernetes/apimachinery';
import { UsageError } from '@tinkernetes/component-base';
import type { ControllerManagerFlags } from '../../options';
import { CidrSet } from './cidr-set';

const defaultMasks = { IPv4: 24, IPv6: 64 } as const;

type Family = keyof typeof defaultMasks;

type CidrFlags = Pick<
  ControllerManagerFlags,
  | 'cluster-cidr'
  | 'service-cluster-ip-range'
  | 'node-cidr-mask-size'
  | 'node-cidr-mask-size-ipv4'
  | 'node-cidr-mask-size-ipv6'
>;

/**
 * The ranges of `--cluster-cidr`, one of each family at most; a Node gets a block of each. Blocks that Services have
 * addresses in are taken. Source: kube-controller-manager startNodeIpamController, setNodeCIDRMaskSizes.
 */
export function clusterCidrs(flags: CidrFlags): CidrSet[] {
  const families = flags['cluster-cidr'].map((range) => parseCidr(range)?.family);
  if (families.length > 2)
    throw new UsageError(`--cluster-cidr has ${families.length} ranges: more than the 2 allowed`);
  if (families.length === 2 && families[0] === families[1])
    throw new UsageError('--cluster-cidr has two ranges, which must be one of IPv4 and one of IPv6');
  const maskOf = nodeMasks(flags, families);
  const sets = flags['cluster-cidr'].map((range, i) => new CidrSet(range, maskOf(families[i] ?? 'IPv4')));
  for (const range of flags['service-cluster-ip-range']) for (const set of sets) set.occupy(range);
  return sets;
}

function nodeMasks(flags: CidrFlags, families: readonly (Family | undefined)[]): (family: Family) => number {
  const both = flags['node-cidr-mask-size'];
  const masks = { IPv4: flags['node-cidr-mask-size-ipv4'], IPv6: flags['node-cidr-mask-size-ipv6'] };
  if (both && families.length > 1)
    throw new UsageError('usage of --node-cidr-mask-size is not allowed with dual-stack clusters');
  if (both && (masks.IPv4 || masks.IPv6))
    throw new UsageError(
      'usage of --node-cidr-mask-size-ipv4 and --node-cidr-mask-size-ipv6 is not allowed if --node-cidr-mask-size is set. For dual-stack clusters please unset it',
    );
  for (const family of ['IPv4', 'IPv6'] as const) {
    if (!masks[family] || families.includes(family)) continue;
    throw new UsageError(
      `usage of --node-cidr-mask-size-${family.toLowerCase()} is not allowed for a single-stack ${families[0] ?? ''} cluster`,
    );
  }
  return (family) => both || masks[family] || defaultMasks[family];
}
