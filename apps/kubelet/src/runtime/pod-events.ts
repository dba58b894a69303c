import type { Pod } from '@tinkernetes/api';
import type { EventRecorder, EventType } from '@tinkernetes/controller';
import { containerFieldPath } from '../pods/pod-facts';

/** Writes the kubelet's events about Pods and their containers. */
export class PodEvents {
  constructor(private readonly recorder: EventRecorder) {}

  pod(pod: Pod, type: EventType, reason: string, message: string): void {
    this.recorder.event(withKind(pod), type, reason, message);
  }

  container(pod: Pod, name: string, event: { type?: EventType; reason: string; message: string }): void {
    this.recorder.event(withKind(pod), event.type ?? 'Normal', event.reason, event.message, {
      fieldPath: containerFieldPath(pod, name),
    });
  }
}

/** Objects in lists and from informers carry no kind of their own; an event's reference needs it. */
const withKind = (pod: Pod): Pod => (pod.kind ? pod : { apiVersion: 'v1', kind: 'Pod', ...pod });
