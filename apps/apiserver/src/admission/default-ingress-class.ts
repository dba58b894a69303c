import { IngressClasses } from '@tinkernetes/api';
import type { Ingress, KubeObject } from '@tinkernetes/api';
import type { AdmissionPlugin, StoreRegistry } from '../contracts';
import { concerns } from './answers';
import { newest } from './default-storage-class';

const annotation = 'ingressclass.kubernetes.io/is-default-class';
const oldAnnotation = 'kubernetes.io/ingress.class';

/** Ingresses that name no class get the default one. */
export function defaultIngressClass(stores: StoreRegistry): AdmissionPlugin {
  return {
    name: 'DefaultIngressClass',
    handles: (a) =>
      a.operation === 'CREATE' && concerns(a, { group: 'networking.k8s.io', resource: 'ingresses' }),
    mutate: ({ object }) => {
      const ingress = object as Ingress;
      const named =
        ingress.spec?.ingressClassName !== undefined ||
        ingress.metadata.annotations?.[oldAnnotation] !== undefined;
      const defaults = stores
        .for(IngressClasses)
        .list()
        .filter(({ metadata }) => metadata.annotations?.[annotation] === 'true');
      const found = named ? undefined : newest(defaults);
      if (!found) return ingress;
      return { ...ingress, spec: { ...ingress.spec, ingressClassName: found.metadata.name } } as KubeObject;
    },
  };
}
