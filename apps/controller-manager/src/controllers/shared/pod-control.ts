import {
  Pods,
  type Creatable,
  type KubeObject,
  type OwnerReference,
  type Pod,
  type PodTemplateSpec,
} from '@tinkernetes/api';
import { isNotFound } from '@tinkernetes/apimachinery';
import type { TraceParent } from '@tinkernetes/component-base';
import type { ControllerContext } from '../../manager/context';
import { isNamespaceTerminating } from './namespace-terminating';

/** A name prefix for Pods of `owner`, shortened as upstream does where it would be too long for a name. */
const podNamePrefix = (owner: string): string => (owner.length > 57 ? owner : `${owner}-`);

export interface PodFromTemplate {
  owner: KubeObject;
  controllerRef: OwnerReference;
  template: PodTemplateSpec;
}

/** The Pod that a template asks for, owned by `controllerRef`. */
export function podFromTemplate({ owner, controllerRef, template }: PodFromTemplate): Creatable<Pod> {
  const { labels, annotations, finalizers } = template.metadata ?? {};
  return {
    metadata: {
      generateName: podNamePrefix(owner.metadata.name),
      namespace: owner.metadata.namespace,
      labels: { ...labels },
      ...(annotations ? { annotations: { ...annotations } } : {}),
      ...(finalizers ? { finalizers: [...finalizers] } : {}),
      ownerReferences: [controllerRef],
    },
    spec: template.spec ?? { containers: [] },
  };
}

/**
 * Creates a Pod for `owner` and records the event, success or failure, as all of upstream's controllers do. In a
 * namespace that is going it is left at that: no later attempt could succeed. Resolves with undefined then.
 */
export async function createPod(
  context: ControllerContext,
  { owner, pod, trace }: { owner: KubeObject; pod: Creatable<Pod>; trace?: TraceParent },
): Promise<Pod | undefined> {
  const { client, recorder } = context;
  try {
    const created = await client.for(Pods).create(pod, { namespace: owner.metadata.namespace, trace });
    recorder.event(owner, 'Normal', 'SuccessfulCreate', `Created pod: ${created.metadata.name}`);
    return created;
  } catch (error) {
    if (isNamespaceTerminating(error)) return undefined;
    recorder.event(owner, 'Warning', 'FailedCreate', `Error creating: ${(error as Error).message}`);
    throw error;
  }
}

/** Deletes a Pod of `owner` and records the event. A Pod that is gone already is no error. */
export async function deletePod(
  context: ControllerContext,
  { owner, pod, trace }: { owner: KubeObject; pod: Pod; trace?: TraceParent },
): Promise<void> {
  const { client, recorder } = context;
  try {
    await client.for(Pods).delete(pod.metadata.name, {
      namespace: pod.metadata.namespace,
      preconditions: { uid: pod.metadata.uid },
      trace,
    });
    recorder.event(owner, 'Normal', 'SuccessfulDelete', `Deleted pod: ${pod.metadata.name}`);
  } catch (error) {
    if (isNotFound(error)) return;
    recorder.event(owner, 'Warning', 'FailedDelete', `Error deleting: ${(error as Error).message}`);
    throw error;
  }
}
