import type { ImageDefinition, StoredImage } from './image';
import type { ImageReference } from './reference';
import { rootTree } from './root-tree';
import { toolset } from './toolset';

/** The kubelet's annotation with the container's declared ports: `[{"containerPort":80,"protocol":"TCP"}]`. */
const portsAnnotation = 'io.kubernetes.container.ports';

/** Marks the definition, so that its containers are told their ports. */
const genericEntrypoint = '/generic';

/** Stands in for an image that nobody defined. */
export function genericImage({ repository }: ImageReference): ImageDefinition {
  return {
    repository,
    hasTag: () => true,
    size: 10_000_000,
    config: { entrypoint: [genericEntrypoint], env: { TINKERNETES_IMAGE: repository } },
    root: () =>
      rootTree({
        commands: toolset('busybox'),
        programs: { [genericEntrypoint]: async () => (await import('./programs/generic')).generic },
      }),
  };
}

export function genericVariables(
  { definition }: StoredImage,
  annotations: Readonly<Record<string, string>>,
): Record<string, string> {
  if (definition.config.entrypoint?.[0] !== genericEntrypoint) return {};
  const declared = annotations[portsAnnotation];
  const ports = declared === undefined ? [] : (JSON.parse(declared) as { containerPort: number }[]);
  return { TINKERNETES_PORTS: ports.map((port) => port.containerPort).join(',') };
}
