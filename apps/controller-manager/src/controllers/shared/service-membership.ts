import type { Pod, Service } from '@tinkernetes/api';
import { selectorOfMap } from '@tinkernetes/apimachinery';
import type { Lister } from '@tinkernetes/informers';

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
