import {
  CSIDrivers,
  Nodes,
  PersistentVolumeClaims,
  PersistentVolumes,
  Pods,
  VolumeAttachments,
  type Node,
  type PersistentVolumeClaim,
  type Pod,
  type VolumeAttachment,
} from '@tinkernetes/api';
import { ignoreNotFound, isAlreadyExists, isConditionTrue, keyOf } from '@tinkernetes/apimachinery';
import { LruMap } from '@tinkernetes/component-base';
import type { ReconcileResult, Reconciler } from '@tinkernetes/controller';
import type { ControllerContext, RunnableController } from '../../manager/context';
import { queueController } from '../../manager/queue-controller';
import { claimsOf } from '../shared/claims-of-pod';
import {
  attachable,
  attachedNames,
  attachmentName,
  isExclusive,
  mayDetach,
  multiAttachMessage,
  usesVolumes,
  type AttachableVolume,
} from './attachable';
import { countVolumes, registerVolumeMetrics } from './volume-metrics';

/** How long a node that is not healthy may keep a volume that nobody needs there. Source: upstream's maxWaitForUnmountDuration. */
const maxWaitForUnmountMs = 6 * 60_000;

/** Of messages that are remembered, so that they are said once. */
const maxSaid = 4096;

const claimIndex = 'attachDetachClaim';
const nodeIndex = 'nodeOfVolumeUser';
const attachmentIndex = 'node';
const attachmentVolumeIndex = 'volume';

/**
 * Has volumes attached to the nodes where Pods need them, and detached where none does any more. Watches Pods, claims,
 * volumes, Nodes and VolumeAttachments; writes VolumeAttachments and what Nodes list as attached.
 * Source: k8s.io/kubernetes/pkg/controller/volume/attachdetach.
 */
export function startAttachDetachController(context: ControllerContext): RunnableController {
  const queue = context.queues.create('attachdetach');
  const reconciler = new AttachDetachController(context, (node) => queue.add(node));
  // One at a time: of two nodes that want the same volume, the second must see what the first has got.
  return queueController({ context, queue, reconciler, concurrency: 1 });
}

/** A volume that a node needs, with the Pods that need it there. */
interface Need {
  attachable: AttachableVolume;
  pods: Pod[];
}

class AttachDetachController implements Reconciler {
  readonly name = 'persistentvolume-attach-detach-controller';
  private readonly pods;
  private readonly claims;
  private readonly volumes;
  private readonly nodes;
  private readonly drivers;
  private readonly attachments;
  private readonly forced;
  /** When a volume was first not needed any more, by attachment. */
  private readonly unneededSince = new Map<string, number>();
  /** What has been said last, by attachment, and by Pod where it has to wait for another's. */
  private readonly said = new LruMap<string, string>(maxSaid);

  constructor(
    private readonly context: ControllerContext,
    enqueue: (nodeName: string) => void,
  ) {
    const { informers, metrics } = context;
    this.forced = metrics.counter(
      'attachdetach_controller_forced_detaches',
      'Number of times the A/D Controller performed a forced detach',
      ['reason'],
    );
    registerVolumeMetrics(metrics, {
      inUse: () => countVolumes(this.wanted()),
      byState: () => countVolumes(this.states()),
    });
    this.pods = informers.for(Pods);
    this.claims = informers.for(PersistentVolumeClaims);
    this.volumes = informers.for(PersistentVolumes);
    this.nodes = informers.for(Nodes);
    this.drivers = informers.for(CSIDrivers);
    this.attachments = informers.for(VolumeAttachments);
    this.pods.addIndex(claimIndex, claimsOf);
    this.pods.addIndex(nodeIndex, (pod) =>
      pod.spec.nodeName && claimsOf(pod).length > 0 ? [pod.spec.nodeName] : [],
    );
    this.attachments.addIndex(attachmentIndex, ({ spec }) => [spec.nodeName]);
    this.attachments.addIndex(attachmentVolumeIndex, ({ spec }) => [spec.source.persistentVolumeName ?? '']);

    const enqueuePod = (pod: Pod) => {
      if (pod.spec.nodeName && claimsOf(pod).length > 0) enqueue(pod.spec.nodeName);
    };
    this.pods.addEventHandler({
      added: enqueuePod,
      updated: (before, pod) => {
        if (before.spec.nodeName !== pod.spec.nodeName || usesVolumes(before) !== usesVolumes(pod))
          enqueuePod(pod);
      },
      deleted: enqueuePod,
    });
    const enqueueUsers = (claim: PersistentVolumeClaim) =>
      this.pods.lister.byIndex(claimIndex, keyOf(claim)).forEach(enqueuePod);
    this.claims.addEventHandler({
      updated: (before, claim) => {
        if (before.status?.phase !== claim.status?.phase) enqueueUsers(claim);
      },
    });
    this.volumes.addEventHandler({
      added: ({ spec }) => {
        const claim = this.claims.lister.get(spec.claimRef?.name ?? '', spec.claimRef?.namespace);
        if (claim) enqueueUsers(claim);
      },
    });
    this.nodes.addEventHandler({
      updated: (before, node) => {
        if (stateOf(before) !== stateOf(node)) enqueue(node.metadata.name);
      },
      deleted: (node) => enqueue(node.metadata.name),
    });
    const onAttachment = ({ spec }: VolumeAttachment) => enqueue(spec.nodeName);
    this.attachments.addEventHandler({
      added: onAttachment,
      updated: (_, attachment) => onAttachment(attachment),
      deleted: (attachment) => {
        onAttachment(attachment);
        // Another node may be waiting for it.
        const { claimRef } =
          this.volumes.lister.get(attachment.spec.source.persistentVolumeName ?? '')?.spec ?? {};
        const claim = this.claims.lister.get(claimRef?.name ?? '', claimRef?.namespace);
        if (claim) enqueueUsers(claim);
      },
    });
  }

  /** The drivers of all volumes that Pods need on their nodes. */
  private *wanted(): Iterable<readonly [node: string, driver: string]> {
    for (const { metadata } of this.nodes.lister.list())
      for (const { attachable: wanted } of this.needsOf(metadata.name).values())
        yield [metadata.name, wanted.driver];
  }

  private *states(): Iterable<readonly [state: string, driver: string]> {
    for (const [, driver] of this.wanted()) yield ['desired_state_of_world', driver];
    for (const { spec, status } of this.attachments.lister.list())
      if (status?.attached) yield ['actual_state_of_world', spec.attacher];
  }

  async reconcile(nodeName: string): Promise<ReconcileResult | void> {
    const node = this.nodes.lister.get(nodeName);
    const needs = this.needsOf(nodeName);
    const existing = this.attachments.lister.byIndex(attachmentIndex, nodeName);
    const unneeded = existing.filter(({ metadata }) => !needs.has(metadata.name));
    const going = unneeded.filter((attachment) => this.mayGo(attachment, node));
    const staying = existing.filter((attachment) => !going.includes(attachment));
    // First the node is told, then the volume is taken.
    await this.listAttached(node, staying, needs);
    for (const attachment of going) await this.detach(attachment);
    for (const [name, need] of needs) {
      const known = existing.find(({ metadata }) => metadata.name === name);
      if (!known) await this.attach(name, need, nodeName);
      else this.sayWhatFailed(known, need);
    }
    const waits = unneeded.some((a) => !going.includes(a) && !a.metadata.deletionTimestamp);
    return waits ? { requeueAfterMs: maxWaitForUnmountMs } : undefined;
  }

  /** By attachment name. */
  private needsOf(nodeName: string): Map<string, Need> {
    const needs = new Map<string, Need>();
    for (const pod of this.pods.lister.byIndex(nodeIndex, nodeName)) {
      if (!usesVolumes(pod)) continue;
      for (const key of claimsOf(pod)) {
        const claim = this.claims.lister.getByKey(key);
        const volume = this.volumes.lister.get(claim?.spec.volumeName ?? '');
        if (!volume || claim?.status?.phase !== 'Bound') continue;
        const found = attachable(volume, (name) => this.drivers.lister.get(name));
        if (!found) continue;
        const name = attachmentName(found, nodeName);
        const need = needs.get(name) ?? { attachable: found, pods: [] };
        need.pods.push(pod);
        needs.set(name, need);
      }
    }
    return needs;
  }

  private async attach(name: string, { attachable: wanted, pods }: Need, nodeName: string): Promise<void> {
    const { client, recorder } = this.context;
    const volumeName = wanted.volume.metadata.name;
    const others = this.attachments.lister
      .byIndex(attachmentVolumeIndex, volumeName)
      .filter(({ spec }) => spec.nodeName !== nodeName);
    if (isExclusive(wanted) && others.length > 0) {
      const users = this.usersOn(
        volumeName,
        others.map(({ spec }) => spec.nodeName),
      );
      for (const pod of pods) {
        const message = multiAttachMessage(volumeName, pod, users);
        if (this.isNews(`${name}/${pod.metadata.uid}`, message))
          recorder.event(pod, 'Warning', 'FailedAttachVolume', message);
      }
      return;
    }
    const attachment: VolumeAttachment = {
      metadata: { name },
      spec: { attacher: wanted.driver, nodeName, source: { persistentVolumeName: volumeName } },
    };
    await client
      .for(VolumeAttachments)
      .create(attachment)
      .catch((error: unknown) => {
        if (!isAlreadyExists(error)) throw error;
      });
  }

  /** Pods that use the volume on one of the nodes. */
  private usersOn(volumeName: string, nodeNames: readonly string[]): Pod[] {
    const { claimRef } = this.volumes.lister.get(volumeName)?.spec ?? {};
    return this.pods.lister
      .byIndex(claimIndex, `${claimRef?.namespace}/${claimRef?.name}`)
      .filter((pod) => usesVolumes(pod) && nodeNames.includes(pod.spec.nodeName ?? ''));
  }

  private mayGo(attachment: VolumeAttachment, node: Node | undefined): boolean {
    const { name } = attachment.metadata;
    const now = this.context.clock.monotonic();
    const since = this.unneededSince.get(name) ?? now;
    this.unneededSince.set(name, since);
    const verdict = mayDetach(this.uniqueNameOf(attachment) ?? '', node, {
      waitedMs: now - since,
      maxWaitMs: this.context.flags['disable-force-detach-on-timeout'] ? undefined : maxWaitForUnmountMs,
    });
    if (verdict === 'wait') return false;
    if (verdict !== 'now') {
      this.forced.inc({ reason: verdict });
      this.context.logger.warn(
        { attachment: name, node: attachment.spec.nodeName, reason: verdict },
        'detaching a volume that its node still lists as in use',
      );
    }
    return true;
  }

  private async detach({ metadata }: VolumeAttachment): Promise<void> {
    this.unneededSince.delete(metadata.name);
    this.said.delete(metadata.name);
    if (metadata.deletionTimestamp) return;
    await this.context.client.for(VolumeAttachments).delete(metadata.name).catch(ignoreNotFound);
  }

  /** Writes which volumes the kubelet may use now, and tells the Pods that waited for them. */
  private async listAttached(
    node: Node | undefined,
    attachments: readonly VolumeAttachment[],
    needs: ReadonlyMap<string, Need>,
  ): Promise<void> {
    if (!node) return;
    const { client, recorder } = this.context;
    const before = (node.status?.volumesAttached ?? []).map(({ name }) => name);
    const names = attachedNames(attachments, (attachment) => this.uniqueNameOf(attachment));
    if ([...before].sort().join() === names.join()) return;
    const volumesAttached = names.map((name) => ({ name, devicePath: '' }));
    await client
      .for(Nodes)
      .patch(node.metadata.name, { status: { volumesAttached } }, { type: 'merge', subresource: 'status' })
      .catch(ignoreNotFound);
    for (const { attachable: got, pods } of needs.values()) {
      if (!names.includes(got.uniqueName) || before.includes(got.uniqueName)) continue;
      const message = `AttachVolume.Attach succeeded for volume "${got.volume.metadata.name}" `;
      for (const pod of pods) recorder.event(pod, 'Normal', 'SuccessfulAttachVolume', message);
    }
  }

  private sayWhatFailed({ metadata, status }: VolumeAttachment, { attachable: wanted, pods }: Need): void {
    this.unneededSince.delete(metadata.name);
    const reason = status?.attachError?.message;
    if (status?.attached || reason === undefined || !this.isNews(metadata.name, reason)) return;
    const message = `AttachVolume.Attach failed for volume "${wanted.volume.metadata.name}" : ${reason}`;
    for (const pod of pods) this.context.recorder.event(pod, 'Warning', 'FailedAttachVolume', message);
  }

  private isNews(key: string, message: string): boolean {
    if (this.said.get(key) === message) return false;
    this.said.set(key, message);
    return true;
  }

  private uniqueNameOf({ spec }: VolumeAttachment): string | undefined {
    const volume = this.volumes.lister.get(spec.source.persistentVolumeName ?? '');
    return volume && attachable(volume, (name) => this.drivers.lister.get(name))?.uniqueName;
  }
}

/** What of a Node decides whether its volumes may be detached. */
const stateOf = ({ spec, status }: Node): string =>
  JSON.stringify([
    status?.volumesInUse,
    status?.volumesAttached,
    spec?.taints?.map(({ key }) => key),
    isConditionTrue(status?.conditions, 'Ready'),
  ]);
