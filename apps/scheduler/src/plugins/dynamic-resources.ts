import {
  DeviceClasses,
  ResourceClaims,
  ResourceSlices,
  type AllocationResult,
  type Pod,
  type ResourceV1ResourceClaim as ResourceClaim,
} from '@tinkernetes/api';
import { keyOf, nodeSelectorMatches } from '@tinkernetes/apimachinery';
import { podKey } from '../cache/pod-info';
import { allocate, whyUnsupported } from '../dynamic-resources/allocate';
import { ClaimBook } from '../dynamic-resources/claim-book';
import { DevicePools, type ReachableDevices } from '../dynamic-resources/devices';
import { isReservedFor, mayUse, resourceClaimsOf } from '../dynamic-resources/pod-resource-claims';
import type { ClusterEvent } from '../framework/cluster-event';
import type { StateData } from '../framework/cycle-state';
import { onePerScheduler } from '../framework/shared';
import { failed, skip, unresolvable, unschedulable, type Status } from '../framework/status';
import type { Handle, PluginFactory } from '../framework/types';

const name = 'DynamicResources';

class ClaimsState implements StateData {
  /** By node, in the order of `unallocated`. */
  readonly allocations = new Map<string, AllocationResult[]>();
  /** Allocated ones that some node can't reach. */
  readonly unreachable = new Set<ResourceClaim>();
  readonly unallocated: readonly ResourceClaim[];

  constructor(
    readonly claims: readonly ResourceClaim[],
    readonly pools: DevicePools,
    readonly inUse: ReadonlySet<string>,
  ) {
    this.unallocated = claims.filter(({ status }) => !status?.allocation);
  }

  clone(): ClaimsState {
    return this;
  }

  /** What Reserve decided for the claim. */
  allocationFor(claim: ResourceClaim, node: string): AllocationResult | undefined {
    return this.allocations.get(node)?.[this.unallocated.indexOf(claim)];
  }
}

const claimBook = onePerScheduler(
  ({ informers, client }) => new ClaimBook(informers.for(ResourceClaims), client),
);

const noClaims = new ClaimsState([], new DevicePools([]), new Set());

/**
 * ResourceClaims with structured parameters: devices of ResourceSlices that a node reaches, matched by the selectors of
 * the request and its DeviceClass, so many as asked for. The allocation is written to the claim before the Pod is bound.
 */
export const dynamicResources: PluginFactory = {
  name,
  create(_args, handle) {
    const claims = handle.informers.for(ResourceClaims);
    const slices = handle.informers.for(ResourceSlices).lister;
    const classes = handle.informers.for(DeviceClasses).lister;
    const book = claimBook(handle);
    const claimsOf = (pod: Pod) => resourceClaimsOf(pod, claims.lister);
    const mayHelp = (pod: Pod, event: ClusterEvent) => claimMayHelp(claimsOf(pod), event);

    const stateFor = (pod: Pod, found: readonly ResourceClaim[]): ClaimsState | Status => {
      for (const claim of found) {
        const reason = claim.status?.allocation
          ? mayUse(pod, claim)
            ? undefined
            : 'resourceclaim in use'
          : (whyPending(book, claim) ?? whyUnsupported(claim) ?? missingClass(claim, classes));
        if (reason !== undefined) return unresolvable(reason);
      }
      const needsDevices = found.some(({ status }) => !status?.allocation);
      return needsDevices
        ? new ClaimsState(found, new DevicePools(slices.list()), book.devicesInUse())
        : new ClaimsState(found, new DevicePools([]), new Set());
    };

    return {
      name,
      events: [
        { resource: 'Node', actions: ['Add', 'UpdateNodeLabel', 'UpdateNodeAllocatable'] },
        { resource: 'ResourceClaim', actions: ['Add', 'Update'], hint: mayHelp },
        {
          resource: 'UnscheduledPod',
          actions: ['UpdatePodGeneratedResourceClaim'],
          hint: (pod, { after }) => after?.metadata.uid === pod.metadata.uid,
        },
        { resource: 'DeviceClass', actions: ['Add', 'Update'] },
        { resource: 'ResourceSlice', actions: ['Add', 'Update'] },
      ],
      preEnqueue(pod) {
        const found = claimsOf(pod);
        return typeof found === 'string' ? unresolvable(found) : undefined;
      },
      preFilter(state, pod) {
        const found = claimsOf(pod);
        if (typeof found === 'string') return { status: unresolvable(found) };
        if (found.length === 0) {
          state.write(name, noClaims);
          return { status: skip };
        }
        const made = stateFor(pod, found);
        if ('code' in made) return { status: made };
        state.write(name, made);
        return undefined;
      },
      filter(state, _pod, { node }) {
        const wanted = state.read<ClaimsState>(name);
        if (!wanted) return undefined;
        const away = wanted.claims.filter(({ status }) => {
          const selector = status?.allocation?.nodeSelector;
          return selector && !nodeSelectorMatches(selector, node);
        });
        for (const claim of away) wanted.unreachable.add(claim);
        if (away.length > 0) return unresolvable('resourceclaim not available on the node');
        if (wanted.unallocated.length === 0) return undefined;
        try {
          const { unallocated, inUse, pools } = wanted;
          const reachable = pools.reachableFrom(node);
          const results = allocate({
            claims: unallocated,
            reachable,
            inUse,
            classes: (className) => classes.get(className),
          });
          if (!results) return unresolvable(whyNone(reachable));
          wanted.allocations.set(node.metadata.name, results);
          return undefined;
        } catch (error) {
          return failed(error);
        }
      },
      /** An allocation that nobody uses and that the Pod can't reach is given up. */
      async postFilter(state, pod) {
        const wanted = state.read<ClaimsState>(name);
        // PreFilter of a plugin before this one refused the Pod. Upstream's plugin fails then, and says just that.
        if (!wanted) return { status: failed('not found') };
        if (wanted.claims.length === 0) return { status: unschedulable('no new claims to deallocate') };
        for (const claim of wanted.unreachable) {
          if (claim.status?.reservedFor?.some(({ uid }) => uid !== pod.metadata.uid)) continue;
          await book.deallocate(claim);
          return { status: unschedulable('deallocation of ResourceClaim completed') };
        }
        return { status: unschedulable('still not schedulable') };
      },
      reserve(state, _pod, node) {
        const wanted = state.read<ClaimsState>(name);
        wanted?.unallocated.forEach((claim) => {
          const allocation = wanted.allocationFor(claim, node);
          if (allocation) book.assume(claim, allocation);
        });
        return undefined;
      },
      unreserve(state, pod) {
        for (const claim of state.read<ClaimsState>(name)?.claims ?? [])
          release(book, claim, { pod, handle, claims });
      },
      async preBind(state, pod, node, signal) {
        const wanted = state.read<ClaimsState>(name);
        try {
          for (const claim of wanted?.claims ?? []) {
            const allocation = wanted?.allocationFor(claim, node);
            if (allocation || !isReservedFor(pod, claim))
              await book.reserve(claim, pod, { allocation, signal });
          }
          return undefined;
        } catch (error) {
          return failed(error);
        }
      },
    };
  },
};

const whyPending = (book: ClaimBook, claim: ResourceClaim): string | undefined =>
  book.isPending(claim) ? `resource claim ${keyOf(claim)} is in the process of being allocated` : undefined;

function missingClass(claim: ResourceClaim, classes: { get(name: string): unknown }): string | undefined {
  for (const { name: request, exactly } of claim.spec.devices?.requests ?? []) {
    const deviceClass = exactly?.deviceClassName ?? '';
    if (!classes.get(deviceClass)) return `request ${request}: device class ${deviceClass} does not exist`;
  }
  return undefined;
}

/** What Reserve assumed is free again; what PreBind wrote for the Pod is taken back. */
function release(
  book: ClaimBook,
  claim: ResourceClaim,
  {
    pod,
    handle,
    claims,
  }: { pod: Pod; handle: Handle; claims: { lister: { getByKey(key: string): ResourceClaim | undefined } } },
): void {
  book.forget(claim);
  const latest = claims.lister.getByKey(keyOf(claim)) ?? claim;
  if (!latest.status?.allocation || !isReservedFor(pod, latest)) return;
  void book.unreserve(latest, pod).catch((error: unknown) => {
    handle.logger.error({ err: error, object: `Pod/${podKey(pod)}` }, 'unreserve of a ResourceClaim failed');
  });
}

/** The Pod's own claim came or changed, or another gave devices back. */
function claimMayHelp(own: readonly ResourceClaim[] | string, event: ClusterEvent): boolean {
  const [before, after] = [event.before, event.after] as (ResourceClaim | undefined)[];
  if (typeof own === 'string') return false;
  if (before?.status?.allocation && !after?.status?.allocation) return true;
  const isOwn = own.some(({ metadata }) => metadata.uid === after?.metadata.uid);
  return isOwn && JSON.stringify(before?.status) !== JSON.stringify(after?.status);
}

/** Upstream's words, and what it could have given out that this allocator can't. */
const whyNone = ({ unsupported }: ReachableDevices): string =>
  unsupported === 0
    ? 'cannot allocate all claims'
    : `cannot allocate all claims: ${unsupported} device(s) that are shared, partitioned or bound late are not supported`;
