import type { HorizontalPodAutoscaler, Pod } from '@tinkernetes/api';
import { parseLabelSelector, type Selector } from '@tinkernetes/apimachinery';
import type { EventRecorder } from '@tinkernetes/controller';
import type { Lister } from '@tinkernetes/informers';
import type { ScaleTarget } from './scale-target';
import type { Conditions } from './status';
import { Stopped } from './stopped';

export interface TargetPodsDeps {
  pods: Lister<Pod>;
  autoscalers: Lister<HorizontalPodAutoscaler>;
  recorder: EventRecorder;
}

/** Which Pods an autoscaler's target has: by its selector, and no other autoscaler's. */
export class TargetPods {
  /** Of the targets, as last read. */
  private readonly selectors = new Map<string, Selector>();

  constructor(private readonly deps: TargetPodsDeps) {}

  forget(key: string): void {
    this.selectors.delete(key);
  }

  /** The target's Pods; throws where its selector can't be used. */
  of(
    key: string,
    autoscaler: HorizontalPodAutoscaler,
    { target, conditions }: { target: ScaleTarget; conditions: Conditions },
  ): Pod[] {
    const refuse = (event: string, reason: string, error: string, message = error): never => {
      const { recorder } = this.deps;
      recorder.event(autoscaler, 'Warning', event, error);
      conditions.set('ScalingActive', 'False', reason, message);
      recorder.event(autoscaler, 'Warning', 'FailedComputeMetricsReplicas', error);
      throw new Stopped(error);
    };
    const text = target.scale.status?.selector ?? '';
    if (text === '')
      return refuse(
        'SelectorRequired',
        'InvalidSelector',
        'selector is required',
        "the HPA target's scale is missing a selector",
      );
    let selector: Selector;
    try {
      selector = parseLabelSelector(text);
    } catch (error) {
      const reason = (error as Error).message;
      return refuse(
        'InvalidSelector',
        'InvalidSelector',
        `couldn't convert selector into a corresponding internal selector object: ${reason}`,
      );
    }
    this.selectors.set(key, selector);
    const { namespace = '', name } = autoscaler.metadata;
    const pods = this.deps.pods.list(namespace).filter((pod) => selector.matches(pod.metadata.labels));
    const rival = this.rivalOf(key, namespace, pods);
    if (rival)
      return refuse(
        'AmbiguousSelector',
        'AmbiguousSelector',
        `pods by selector ${text} are controlled by more than one HPA (e.g. [${[name, rival]
          .sort()
          .map((n) => `{${n} ${namespace}}`)
          .join(' ')}])`,
      );
    return pods;
  }

  /** Another autoscaler whose target has some of the same Pods. */
  private rivalOf(key: string, namespace: string, pods: readonly Pod[]): string | undefined {
    const prefix = `${namespace}/`;
    for (const [other, selector] of this.selectors) {
      if (other === key || !other.startsWith(prefix) || !this.deps.autoscalers.getByKey(other)) continue;
      if (pods.some((pod) => selector.matches(pod.metadata.labels))) return other.slice(prefix.length);
    }
    return undefined;
  }
}
