import type { Container, KubeObject, Pod } from '@tinkernetes/api';
import type { AdmissionPlugin } from '../contracts';

const handled: ReadonlySet<string> = new Set(['', 'ephemeralcontainers']);

/** No Pod runs an image that is on the node because others could pull it. */
export const alwaysPullImages: AdmissionPlugin = {
  name: 'AlwaysPullImages',
  handles: (a) =>
    (a.operation === 'CREATE' || a.operation === 'UPDATE') &&
    a.group === '' &&
    a.resource === 'pods' &&
    handled.has(a.subresource),
  mutate: ({ object }) => {
    const pod = object as Pod;
    if (!pod.spec) return pod;
    const always = <C extends Pick<Container, 'imagePullPolicy'>>(container: C): C => ({
      ...container,
      imagePullPolicy: 'Always',
    });
    const { initContainers, ephemeralContainers } = pod.spec;
    return {
      ...pod,
      spec: {
        ...pod.spec,
        containers: pod.spec.containers.map(always),
        ...(initContainers && { initContainers: initContainers.map(always) }),
        ...(ephemeralContainers && { ephemeralContainers: ephemeralContainers.map(always) }),
      },
    } as KubeObject;
  },
};
