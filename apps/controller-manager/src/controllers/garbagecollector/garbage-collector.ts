import type { KubeObject, OwnerReference, ResourceDescriptor } from '@tinkernetes/api';
import { ignoreNotFound } from '@tinkernetes/apimachinery';
import { allInTurns, TerminalError } from '@tinkernetes/controller';
import type { ControllerContext } from '../../manager/context';
import {
  blockingDependents,
  foregroundFinalizer,
  isMisnamed,
  orphanFinalizer,
  type GraphNode,
  type OwnershipGraph,
} from './graph';
import type { ResourceMap } from './resource-map';

const maxAbsent = 5000;

type OwnerState = 'solid' | 'dangling' | 'waiting';

/**
 * Deletes what has lost all its owners, lets go owners that waited for their dependents, and sets dependents free.
 * Source: k8s.io/kubernetes/pkg/controller/garbagecollector/garbagecollector.go.
 */
export class GarbageCollector {
  /** Owners that were looked up and not found: uids never come back. Emptied when full. */
  private readonly absent = new Set<string>();

  constructor(
    private readonly context: ControllerContext,
    private readonly graph: OwnershipGraph,
    private readonly resources: ResourceMap,
    /** What the watches show of a resource's object, wherever it is. */
    private readonly observedObject: (descriptor: ResourceDescriptor, uid: string) => KubeObject | undefined,
  ) {}

  async attemptToDelete(uid: string): Promise<void> {
    const node = this.graph.get(uid);
    if (!node || (node.beingDeleted && !node.deletingDependents)) return;
    const descriptor = await this.descriptorOf(node);
    const live = await this.read(node, descriptor);
    if (!live) {
      this.graph.removed(uid);
      return;
    }
    // It exists after all: its own watch event, if it is of interest, tells the rest.
    if (node.virtual) {
      this.graph.observed(live, descriptor, node.apiVersion);
      return;
    }
    if (node.deletingDependents) return this.continueForeground(node, live, descriptor);
    const owners = live.metadata.ownerReferences ?? [];
    if (owners.length === 0) return;
    await this.deleteUnlessOwned(node, { live, descriptor, owners });
  }

  /** Removes the references of all dependents, then the finalizer that asked for it. */
  async attemptToOrphan(uid: string): Promise<void> {
    const node = this.graph.get(uid);
    if (!node?.orphaning) return;
    await allInTurns([...node.dependents], (dependent) => this.withoutOwners(dependent, [uid]));
    const descriptor = await this.descriptorOf(node);
    const live = await this.read(node, descriptor);
    if (live) await this.removeFinalizer(live, descriptor, orphanFinalizer);
  }

  private async deleteUnlessOwned(
    node: GraphNode,
    {
      live,
      descriptor,
      owners,
    }: { live: KubeObject; descriptor: ResourceDescriptor; owners: readonly OwnerReference[] },
  ): Promise<void> {
    const states = await Promise.all(owners.map((owner) => this.stateOf(owner, node)));
    const with_ = (state: OwnerState) => owners.filter((_, i) => states[i] === state);
    const [dangling, waiting] = [with_('dangling'), with_('waiting')];
    if (states.includes('solid')) {
      const gone = [...dangling, ...waiting].map((o) => o.uid);
      if (gone.length > 0) await this.withoutOwners(node, gone);
      return;
    }
    if (waiting.length > 0 && node.dependents.size > 0) {
      // An owner in a circle would wait for ever: dependents that wait themselves stop blocking.
      if ([...node.dependents].some((d) => d.deletingDependents)) await this.unblockOwners(live, descriptor);
      return this.delete(live, descriptor, 'Foreground');
    }
    const finalizers = live.metadata.finalizers ?? [];
    return this.delete(
      live,
      descriptor,
      finalizers.includes(orphanFinalizer)
        ? 'Orphan'
        : finalizers.includes(foregroundFinalizer)
          ? 'Foreground'
          : 'Background',
    );
  }

  private async continueForeground(
    node: GraphNode,
    live: KubeObject,
    descriptor: ResourceDescriptor,
  ): Promise<void> {
    const blocking = blockingDependents(node);
    if (blocking.length === 0) {
      await this.removeFinalizer(live, descriptor, foregroundFinalizer);
      return;
    }
    for (const dependent of blocking)
      if (!dependent.deletingDependents) await this.attemptToDelete(dependent.uid);
  }

  private async stateOf(owner: OwnerReference, dependent: GraphNode): Promise<OwnerState> {
    const known = this.graph.get(owner.uid);
    if (known && !known.virtual && !isMisnamed(known, owner, dependent.namespace))
      return known.deletingDependents ? 'waiting' : 'solid';
    const descriptor = await this.resources.find(owner.apiVersion, owner.kind);
    if (!descriptor) throw new TerminalError(`no resource of kind ${owner.kind} in ${owner.apiVersion}`);
    if (descriptor.namespaced && !dependent.namespace) return this.reportInvalid(owner, dependent);
    if (this.absent.has(owner.uid)) return 'dangling';
    const live = await this.get(descriptor, owner.name, dependent.namespace);
    if (live?.metadata.uid === owner.uid) {
      const isWaiting =
        live.metadata.deletionTimestamp && live.metadata.finalizers?.includes(foregroundFinalizer);
      return isWaiting ? 'waiting' : 'solid';
    }
    const observed = this.observedObject(descriptor, owner.uid);
    if (observed && observed.metadata.namespace !== dependent.namespace)
      return this.reportInvalid(owner, dependent);
    if (!observed && (!known || known.virtual)) this.forgetOwner(owner.uid);
    return 'dangling';
  }

  private forgetOwner(uid: string): void {
    if (this.absent.size >= maxAbsent) this.absent.clear();
    this.absent.add(uid);
  }

  /** An owner in another namespace counts as absent. A cluster-scoped object that names one of a namespace is left alone. */
  private reportInvalid(
    owner: OwnerReference,
    { descriptor, kind, apiVersion, namespace, name, uid }: GraphNode,
  ): OwnerState {
    const object = { kind, apiVersion, metadata: { name, namespace: namespace || undefined, uid } };
    const reference = `[${owner.apiVersion}/${owner.kind}, namespace: ${namespace}, name: ${owner.name}, uid: ${owner.uid}]`;
    if (descriptor)
      this.context.recorder.event(
        object,
        'Warning',
        'OwnerRefInvalidNamespace',
        `ownerRef ${reference} does not exist in namespace "${namespace}"`,
      );
    if (!namespace)
      throw new TerminalError(
        `${kind} ${name} is cluster-scoped and refers to a namespaced owner, ${owner.kind}`,
      );
    return 'dangling';
  }

  private async delete(
    object: KubeObject,
    descriptor: ResourceDescriptor,
    propagationPolicy: 'Foreground' | 'Background' | 'Orphan',
  ): Promise<void> {
    const { name, namespace, uid, resourceVersion } = object.metadata;
    const trace = this.context.client.traceOf(object);
    // The resourceVersion guards against a new owner that came since the object was read.
    await this.context.client
      .for(descriptor)
      .delete(name, { namespace, propagationPolicy, preconditions: { uid, resourceVersion }, trace })
      .catch(ignoreNotFound);
  }

  private async withoutOwners(node: GraphNode, uids: readonly string[]): Promise<void> {
    const descriptor = await this.descriptorOf(node);
    const live = await this.read(node, descriptor);
    if (!live) return;
    const ownerReferences = (live.metadata.ownerReferences ?? []).filter((o) => !uids.includes(o.uid));
    await this.patchMetadata(live, descriptor, { ownerReferences });
  }

  private async unblockOwners(live: KubeObject, descriptor: ResourceDescriptor): Promise<void> {
    const ownerReferences = (live.metadata.ownerReferences ?? []).map((o) =>
      o.blockOwnerDeletion ? { ...o, blockOwnerDeletion: false } : o,
    );
    await this.patchMetadata(live, descriptor, { ownerReferences });
  }

  private async removeFinalizer(
    live: KubeObject,
    descriptor: ResourceDescriptor,
    finalizer: string,
  ): Promise<void> {
    const finalizers = live.metadata.finalizers ?? [];
    if (!finalizers.includes(finalizer)) return;
    await this.patchMetadata(live, descriptor, { finalizers: finalizers.filter((f) => f !== finalizer) });
  }

  /** A merge patch guarded by resourceVersion: works for custom kinds too, and never undoes another's change. */
  private async patchMetadata(
    { metadata }: KubeObject,
    descriptor: ResourceDescriptor,
    change: object,
  ): Promise<void> {
    const { name, namespace, uid, resourceVersion } = metadata;
    await this.context.client
      .for(descriptor)
      .patch(name, { metadata: { uid, resourceVersion, ...change } }, { type: 'merge', namespace })
      .catch(ignoreNotFound);
  }

  private async descriptorOf(node: GraphNode): Promise<ResourceDescriptor> {
    const descriptor = node.descriptor ?? (await this.resources.find(node.apiVersion, node.kind));
    if (!descriptor) throw new TerminalError(`no resource of kind ${node.kind} in ${node.apiVersion}`);
    return descriptor;
  }

  private async read(node: GraphNode, descriptor: ResourceDescriptor): Promise<KubeObject | undefined> {
    const live = await this.get(descriptor, node.name, descriptor.namespaced ? node.namespace : undefined);
    return live?.metadata.uid === node.uid ? live : undefined;
  }

  private get(
    descriptor: ResourceDescriptor,
    name: string,
    namespace: string | undefined,
  ): Promise<KubeObject | undefined> {
    return this.context.client
      .for(descriptor)
      .get(name, { namespace: descriptor.namespaced ? namespace : undefined })
      .catch(ignoreNotFound);
  }
}
