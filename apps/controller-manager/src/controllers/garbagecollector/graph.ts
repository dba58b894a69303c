import type { KubeObject, OwnerReference, ResourceDescriptor } from '@tinkernetes/api';

export const foregroundFinalizer = 'foregroundDeletion';
export const orphanFinalizer = 'orphan';

/** An object as far as ownership is concerned. */
export interface GraphNode {
  readonly uid: string;
  /** undefined for an owner that was only heard of and whose kind is not known. */
  descriptor: ResourceDescriptor | undefined;
  kind: string;
  apiVersion: string;
  namespace: string;
  name: string;
  owners: readonly OwnerReference[];
  dependents: Set<GraphNode>;
  /** Heard of from a dependent's reference, never seen by a watch. */
  virtual: boolean;
  beingDeleted: boolean;
  /** Is being deleted in the foreground: waits for its dependents. */
  deletingDependents: boolean;
  orphaning: boolean;
}

/** What an observed change asks the collector to do. */
export interface GraphEffects {
  attemptToDelete(node: GraphNode): void;
  attemptToOrphan(node: GraphNode): void;
}

/**
 * Who owns whom, kept up by watches on all resources. An owner that is referred to before it is seen gets a virtual
 * node, which is then looked up. Source: k8s.io/kubernetes/pkg/controller/garbagecollector/graph_builder.go.
 */
export class OwnershipGraph {
  private readonly nodes = new Map<string, GraphNode>();

  constructor(private readonly effects: GraphEffects) {}

  get(uid: string): GraphNode | undefined {
    return this.nodes.get(uid);
  }

  get size(): number {
    return this.nodes.size;
  }

  observed(object: KubeObject, descriptor: ResourceDescriptor, apiVersion: string): void {
    const {
      uid = '',
      name,
      namespace = '',
      ownerReferences = [],
      deletionTimestamp,
      finalizers = [],
    } = object.metadata;
    if (!this.nodes.has(uid) && ownerReferences.length === 0 && !deletionTimestamp) {
      // Most objects own nothing and nobody owns them: they get a node only when a dependent refers to them.
      return;
    }
    const node = this.nodes.get(uid) ?? this.add(uid);
    Object.assign(node, { descriptor, kind: descriptor.kind, apiVersion, namespace, name, virtual: false });
    const before = { deletingDependents: node.deletingDependents, orphaning: node.orphaning };
    node.beingDeleted = deletionTimestamp !== undefined;
    node.deletingDependents = node.beingDeleted && finalizers.includes(foregroundFinalizer);
    node.orphaning = node.beingDeleted && finalizers.includes(orphanFinalizer);
    this.setOwners(node, ownerReferences);
    if (node.orphaning && !before.orphaning) this.effects.attemptToOrphan(node);
    if (node.deletingDependents && !before.deletingDependents) {
      node.dependents.forEach((d) => this.effects.attemptToDelete(d));
      this.effects.attemptToDelete(node);
    }
  }

  /** The object is gone: its dependents are looked at, and owners that waited for it. */
  removed(uid: string): void {
    const node = this.nodes.get(uid);
    if (!node) return;
    this.nodes.delete(uid);
    for (const { uid: ownerUid } of node.owners) {
      const owner = this.nodes.get(ownerUid);
      if (!owner) continue;
      owner.dependents.delete(node);
      if (owner.deletingDependents) this.effects.attemptToDelete(owner);
      if (owner.virtual && owner.dependents.size === 0) this.nodes.delete(ownerUid);
    }
    for (const dependent of node.dependents) this.effects.attemptToDelete(dependent);
  }

  private setOwners(node: GraphNode, owners: readonly OwnerReference[]): void {
    const wanted = new Set(owners.map((o) => o.uid));
    for (const { uid } of node.owners) {
      if (wanted.has(uid)) continue;
      const former = this.nodes.get(uid);
      former?.dependents.delete(node);
      if (former?.deletingDependents) this.effects.attemptToDelete(former);
    }
    const known = new Map(node.owners.map((o) => [o.uid, o]));
    node.owners = owners;
    for (const reference of owners) {
      const owner = this.nodes.get(reference.uid) ?? this.heardOf(reference, node.namespace);
      owner.dependents.add(node);
      // A dependent that comes, or stops blocking, while its owner waits.
      const before = known.get(reference.uid);
      if (!before && isMisnamed(owner, reference, node.namespace)) this.effects.attemptToDelete(node);
      if (
        owner.deletingDependents &&
        (!before || before.blockOwnerDeletion !== reference.blockOwnerDeletion)
      ) {
        this.effects.attemptToDelete(owner);
        if (!before) this.effects.attemptToDelete(node);
      }
    }
  }

  private heardOf(reference: OwnerReference, namespace: string): GraphNode {
    const node = this.add(reference.uid);
    Object.assign(node, {
      kind: reference.kind,
      apiVersion: reference.apiVersion,
      name: reference.name,
      namespace,
    });
    this.effects.attemptToDelete(node);
    return node;
  }

  private add(uid: string): GraphNode {
    const node: GraphNode = {
      uid,
      descriptor: undefined,
      kind: '',
      apiVersion: '',
      namespace: '',
      name: '',
      owners: [],
      dependents: new Set(),
      virtual: true,
      beingDeleted: false,
      deletingDependents: false,
      orphaning: false,
    };
    this.nodes.set(uid, node);
    return node;
  }
}

/** The reference says something else of an owner that was seen than is true: whether it counts is to be looked up. */
export const isMisnamed = (
  owner: GraphNode,
  { kind, name }: OwnerReference,
  namespaceOfDependent: string,
): boolean =>
  !owner.virtual &&
  (owner.kind !== kind ||
    owner.name !== name ||
    (owner.namespace !== '' && owner.namespace !== namespaceOfDependent));

/** Dependents that a foreground deletion waits for. */
export const blockingDependents = (node: GraphNode): GraphNode[] =>
  [...node.dependents].filter((d) => d.owners.some((o) => o.uid === node.uid && o.blockOwnerDeletion));
