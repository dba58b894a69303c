import {
  PersistentVolumeClaims,
  PersistentVolumes,
  StorageClasses,
  type Node,
  type PersistentVolume,
  type PersistentVolumeClaim,
  type Pod,
} from '@tinkernetes/api';
import { keyOf } from '@tinkernetes/apimachinery';
import type { StateData } from '../framework/cycle-state';
import { onePerScheduler } from '../framework/shared';
import { failed, skip, unresolvable, type Status } from '../framework/status';
import type { Handle, PluginFactory } from '../framework/types';
import { capacityOf, claimsOf, classOf, fitsNode, isBound, mayProvisionOn, satisfies } from './pod-claims';
import { StorageCapacity } from './storage-capacity';

const name = 'VolumeBinding';
const selectedNode = 'volume.kubernetes.io/selected-node';

/** Why a node will not do. */
const unavailable = {
  elsewhere: "node(s) didn't match PersistentVolume's node affinity",
  unbindable: "node(s) didn't find available persistent volumes to bind",
  full: 'node(s) did not have enough free storage',
  missing: 'node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)',
};

/** What is to be done for a Pod on one node. */
interface Decision {
  bind: { claim: PersistentVolumeClaim; volume: PersistentVolume }[];
  provision: PersistentVolumeClaim[];
}

class VolumeState implements StateData {
  readonly decisions = new Map<string, Decision>();

  constructor(
    readonly bound: readonly PersistentVolumeClaim[],
    /** Claims that wait for their first consumer, which this Pod is. */
    readonly delayed: readonly PersistentVolumeClaim[],
  ) {}

  clone(): VolumeState {
    return this;
  }
}

interface Args {
  bindTimeoutSeconds?: number;
}

/**
 * Claims of a Pod: bound ones tie it to nodes that can reach the volume; those of a class that waits for its first
 * consumer are bound, or provisioned, for the node that is chosen.
 */
export const volumeBinding: PluginFactory = {
  name,
  create(args, handle) {
    const binder = new VolumeBinder(handle, ((args as Args).bindTimeoutSeconds ?? 600) * 1000);
    return {
      name,
      events: [
        { resource: 'PersistentVolumeClaim', actions: ['Add', 'Update'], hint: usesClaim },
        { resource: 'PersistentVolume', actions: ['Add', 'Update'] },
        { resource: 'StorageClass', actions: ['Add', 'Update'] },
        { resource: 'Node', actions: ['Add', 'UpdateNodeLabel'] },
        { resource: 'CSIDriver', actions: ['Update'] },
        { resource: 'CSIStorageCapacity', actions: ['Add', 'Update'] },
      ],
      preFilter(state, pod) {
        const uses = claimsOf(pod);
        if (uses.length === 0) return { status: skip };
        const found = binder.lookUp(pod);
        if ('code' in found) return { status: found };
        state.write(name, found);
        return undefined;
      },
      filter(state, _pod, { node }) {
        const volumes = state.read<VolumeState>(name);
        if (!volumes) return undefined;
        const decision = binder.decide(volumes, node);
        if ('code' in decision) return decision;
        volumes.decisions.set(node.metadata.name, decision);
        return undefined;
      },
      reserve(state, _pod, node) {
        binder.assume(state.read<VolumeState>(name)?.decisions.get(node));
        return undefined;
      },
      unreserve: (state, _pod, node) => binder.release(state.read<VolumeState>(name)?.decisions.get(node)),
      async preBind(state, _pod, node, signal) {
        const decision = state.read<VolumeState>(name)?.decisions.get(node);
        if (!decision || (decision.bind.length === 0 && decision.provision.length === 0)) return undefined;
        try {
          await binder.carryOut(decision, { node, signal });
          return undefined;
        } catch (error) {
          return failed(error);
        } finally {
          binder.release(decision);
        }
      },
    };
  },
};

function usesClaim(
  pod: Pod,
  { after }: { after?: { metadata: { name: string; namespace?: string } } },
): boolean {
  return (
    after?.metadata.namespace === pod.metadata.namespace &&
    claimsOf(pod).some((use) => use.name === after?.metadata.name)
  );
}

const assumedVolumes = onePerScheduler(() => new Map<string, string>());

class VolumeBinder {
  private readonly claims;
  private readonly volumes;
  private readonly classes;
  private readonly capacity;
  /** Volume name → key of the claim that a Pod being bound will take it for. */
  private readonly assumed;

  constructor(
    private readonly handle: Handle,
    private readonly timeoutMs: number,
  ) {
    this.assumed = assumedVolumes(handle);
    this.claims = handle.informers.for(PersistentVolumeClaims);
    this.volumes = handle.informers.for(PersistentVolumes).lister;
    this.classes = handle.informers.for(StorageClasses).lister;
    this.capacity = new StorageCapacity(handle.informers);
  }

  lookUp(pod: Pod): VolumeState | Status {
    const bound: PersistentVolumeClaim[] = [];
    const delayed: PersistentVolumeClaim[] = [];
    for (const { name: claimName, isEphemeral } of claimsOf(pod)) {
      const claim = this.claims.lister.get(claimName, pod.metadata.namespace);
      if (!claim && isEphemeral)
        return unresolvable(
          `waiting for ephemeral volume controller to create the persistentvolumeclaim "${claimName}"`,
        );
      if (!claim) return unresolvable(`persistentvolumeclaim "${claimName}" not found`);
      if (claim.metadata.deletionTimestamp)
        return unresolvable(`persistentvolumeclaim "${claimName}" is being deleted`);
      if (claim.status?.phase === 'Lost')
        return unresolvable(
          `persistentvolumeclaim "${claimName}" bound to non-existent persistentvolume "${claim.spec?.volumeName ?? ''}"`,
        );
      if (isBound(claim)) bound.push(claim);
      else if (this.waitsForConsumer(claim)) delayed.push(claim);
      else return unresolvable('pod has unbound immediate PersistentVolumeClaims');
    }
    return new VolumeState(bound, delayed);
  }

  /** All that is wrong is said; removing Pods from the node cures none of it. */
  decide({ bound, delayed }: VolumeState, node: Node): Decision | Status {
    const reasons = new Set<string>();
    for (const { spec } of bound) {
      const volume = this.volumes.get(spec?.volumeName ?? '');
      if (!volume) reasons.add(unavailable.missing);
      else if (!fitsNode(volume, node)) reasons.add(unavailable.elsewhere);
    }
    const decision: Decision = { bind: [], provision: [] };
    for (const claim of delayed) {
      const refusal = this.decideFor(claim, node, decision);
      if (refusal) {
        reasons.add(refusal);
        break;
      }
    }
    // In upstream's order.
    const said = Object.values(unavailable).filter((reason) => reasons.has(reason));
    return said.length > 0 ? unresolvable(...said) : decision;
  }

  /** Adds what is to be done for a claim; or says why that can't be on this node. */
  private decideFor(claim: PersistentVolumeClaim, node: Node, decision: Decision): string | undefined {
    const selected = claim.metadata.annotations?.[selectedNode];
    if (selected !== undefined && selected !== node.metadata.name) return unavailable.unbindable;
    const volume = selected === undefined ? this.bestVolume(claim, node, decision) : undefined;
    if (volume) {
      decision.bind.push({ claim, volume });
      return undefined;
    }
    const storageClass = this.classes.get(classOf(claim));
    if (!storageClass || !mayProvisionOn(storageClass, node)) return unavailable.unbindable;
    if (!this.capacity.suffices(claim, storageClass, node)) return unavailable.full;
    decision.provision.push(claim);
    return undefined;
  }

  assume(decision: Decision | undefined): void {
    for (const { claim, volume } of decision?.bind ?? [])
      this.assumed.set(volume.metadata.name, keyOf(claim));
  }

  release(decision: Decision | undefined): void {
    for (const { volume } of decision?.bind ?? []) this.assumed.delete(volume.metadata.name);
  }

  /** Asks for the bindings and waits until the volume controller has made them. */
  async carryOut(
    { bind, provision }: Decision,
    { node, signal }: { node: string; signal: AbortSignal },
  ): Promise<void> {
    const { client } = this.handle;
    for (const { claim, volume } of bind) {
      const { name: claimName, namespace, uid } = claim.metadata;
      const claimRef = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', name: claimName, namespace, uid };
      const bound = { ...volume, spec: { ...volume.spec, claimRef } } as PersistentVolume;
      await client.for(PersistentVolumes).update(bound, { signal });
    }
    for (const { metadata } of provision) {
      const patch = { metadata: { annotations: { [selectedNode]: node } } };
      const options = { type: 'merge' as const, namespace: metadata.namespace, signal };
      await client.for(PersistentVolumeClaims).patch(metadata.name, patch, options);
    }
    await this.untilBound([...bind.map(({ claim }) => claim), ...provision], signal);
  }

  private untilBound(claims: readonly PersistentVolumeClaim[], signal: AbortSignal): Promise<void> {
    const areBound = () =>
      claims.every(({ metadata }) => {
        const now = this.claims.lister.get(metadata.name, metadata.namespace);
        return now !== undefined && isBound(now);
      });
    return new Promise<void>((resolve, reject) => {
      const finish = (settle: () => void) => {
        timer.cancel();
        removeHandler();
        signal.removeEventListener('abort', onAbort);
        settle();
      };
      const check = () => {
        if (areBound()) finish(resolve);
      };
      const onAbort = () => finish(() => reject(signal.reason as Error));
      const timer = this.handle.clock.setTimeout(
        () => finish(() => reject(new Error('timed out waiting for the condition'))),
        this.timeoutMs,
        { unref: true },
      );
      const removeHandler = this.claims.addEventHandler({ updated: () => queueMicrotask(check) });
      signal.addEventListener('abort', onAbort, { once: true });
      check();
    });
  }

  private waitsForConsumer(claim: PersistentVolumeClaim): boolean {
    const isSelected = claim.metadata.annotations?.[selectedNode] !== undefined;
    return isSelected || this.classes.get(classOf(claim))?.volumeBindingMode === 'WaitForFirstConsumer';
  }

  /** The smallest that will do. */
  private bestVolume(
    claim: PersistentVolumeClaim,
    node: Node,
    taken: Decision,
  ): PersistentVolume | undefined {
    const isTaken = (volume: PersistentVolume) =>
      taken.bind.some((other) => other.volume === volume) ||
      (this.assumed.get(volume.metadata.name) ?? keyOf(claim)) !== keyOf(claim);
    return this.volumes
      .list()
      .filter((volume) => satisfies(volume, claim) && fitsNode(volume, node) && !isTaken(volume))
      .sort((a, b) => capacityOf(a).compare(capacityOf(b)))[0];
  }
}
