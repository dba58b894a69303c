import type { Container, ContainerPort } from '@tinkernetes/api';
import { child, duplicate, index, invalid, isPortName, required } from '@tinkernetes/apimachinery';
import { eachOf, portNumber, requireOneOf } from '../rules';
import type { Errors } from '../rules';

export const protocols = ['SCTP', 'TCP', 'UDP'];

/** Source: core/validation.validateContainerPorts. */
export function validateContainerPorts(ports: readonly ContainerPort[] | undefined, path: string): Errors {
  const names = new Set<string>();
  return eachOf(path, ports, (port, at) => {
    const errors: Errors = [];
    if (port.name) {
      const problems = isPortName(port.name);
      if (problems.length > 0)
        errors.push(...problems.map((text) => invalid(child(at, 'name'), port.name, text)));
      else if (names.has(port.name)) errors.push(duplicate(child(at, 'name'), port.name));
      else names.add(port.name);
    }
    if (!port.containerPort) errors.push(required(child(at, 'containerPort')));
    else errors.push(...portNumber(child(at, 'containerPort'), port.containerPort));
    if (port.hostPort) errors.push(...portNumber(child(at, 'hostPort'), port.hostPort));
    return [...errors, ...requireOneOf(child(at, 'protocol'), port.protocol, protocols)];
  });
}

/** No two containers may take the same port of the host. */
export function hostPortConflicts(containers: readonly Container[], path: string): Errors {
  const taken = new Set<string>();
  return eachOf(path, containers, (container, at) =>
    eachOf(child(at, 'ports'), container.ports, (port, portPath) => {
      if (!port.hostPort) return [];
      const key = `${port.protocol ?? ''}/${port.hostIP ?? ''}/${port.hostPort}`;
      if (taken.has(key)) return [duplicate(child(portPath, 'hostPort'), key)];
      taken.add(key);
      return [];
    }),
  );
}

/** On the host's network a container's port is the host's. */
export const hostNetworkPorts = (containers: readonly Container[], path: string): Errors =>
  containers.flatMap((container, i) =>
    (container.ports ?? []).flatMap((port, p) =>
      !port.hostPort || port.hostPort === port.containerPort
        ? []
        : [
            invalid(
              child(index(child(index(path, i), 'ports'), p), 'hostPort'),
              port.hostPort,
              'must match `containerPort` when `hostNetwork` is true',
            ),
          ],
    ),
  );
