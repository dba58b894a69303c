import type { ContainerConfig, DeepPartial, Device, Mount } from '@tinkernetes/cri';
import type { ContainerAllocateResponse } from './device-plugin-api';

/** What a container is given beside what its spec says, so that it can use its devices. */
export interface ContainerDevices {
  /** The container's own variables go before these. */
  envs: Readonly<Record<string, string>>;
  mounts: ReadonlyArray<DeepPartial<Mount>>;
  devices: readonly Device[];
  annotations: Readonly<Record<string, string>>;
  cdiDevices: ContainerConfig['CDIDevices'];
}

export function mergedDevices(responses: readonly ContainerAllocateResponse[]): ContainerDevices {
  return {
    envs: Object.assign({}, ...responses.map(({ envs }) => envs)) as Record<string, string>,
    mounts: responses.flatMap(({ mounts }) =>
      mounts.map(({ containerPath, hostPath, readOnly }) => ({
        containerPath,
        hostPath,
        readonly: readOnly,
      })),
    ),
    devices: responses.flatMap(({ devices }) => devices),
    annotations: Object.assign({}, ...responses.map(({ annotations }) => annotations)) as Record<
      string,
      string
    >,
    cdiDevices: responses.flatMap(({ cdiDevices }) => cdiDevices),
  };
}
