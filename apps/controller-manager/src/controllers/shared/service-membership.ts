import type { Pod, Service } from '@tinkernetes/api';
import { keyOf, selectorOfMap } from '@tinkernetes/apimachinery';
import type { Lister, SharedInformer } from '@tinkernetes/informers';

/** The Services of a Pod's namespace whose selector it matches. */
export function servicesOfPod(services: Lister<Service>, pod: Pod): Service[] {
  return services.list(pod.metadata.namespace).filter((service) => {
    const { selector } = service.spec;
    return (
      selector !== undefined &&
      Object.keys(selector).length > 0 &&
      selectorOfMap(selector).matches(pod.metadata.labels)
    );
  });
}

/** Calls `add` with the key of each Service that changes itself or by a Pod that comes to it, changes or leaves it. */
export function followServices(
  services: SharedInformer<Service>,
  pods: SharedInformer<Pod>,
  add: (key: string) => void,
): void {
  const onService = (service: Service) => add(keyOf(service));
  services.addEventHandler({
    added: onService,
    updated: (_, service) => onService(service),
    deleted: onService,
  });
  const onPod = (pod: Pod) => servicesOfPod(services.lister, pod).forEach(onService);
  pods.addEventHandler({
    added: onPod,
    updated: (before, pod) => {
      onPod(pod);
      if (JSON.stringify(before.metadata.labels) !== JSON.stringify(pod.metadata.labels)) onPod(before);
    },
    deleted: onPod,
  });
}
