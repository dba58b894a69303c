import type { Service } from '@tinkernetes/api';

/**
 * The Docker-links style variables of Services. Source: pkg/kubelet/envvars FromServices;
 * https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables
 */
export function serviceEnvironment(services: readonly Service[]): Map<string, string> {
  const env = new Map<string, string>();
  for (const service of services) {
    const { clusterIP, ports = [] } = service.spec ?? {};
    const [first] = ports;
    if (!clusterIP || clusterIP === 'None' || !first) continue;
    const prefix = variableName(service.metadata.name);
    const host = clusterIP.includes(':') ? `[${clusterIP}]` : clusterIP;
    env.set(`${prefix}_SERVICE_HOST`, clusterIP);
    env.set(`${prefix}_SERVICE_PORT`, String(first.port));
    for (const { name, port } of ports) {
      if (name) env.set(`${prefix}_SERVICE_PORT_${variableName(name)}`, String(port));
    }
    ports.forEach(({ port, protocol = 'TCP' }, index) => {
      const url = `${protocol.toLowerCase()}://${host}:${port}`;
      const link = `${prefix}_PORT_${port}_${protocol}`;
      if (index === 0) env.set(`${prefix}_PORT`, url);
      env.set(link, url);
      env.set(`${link}_PROTO`, protocol.toLowerCase());
      env.set(`${link}_PORT`, String(port));
      env.set(`${link}_ADDR`, clusterIP);
    });
  }
  return env;
}

const variableName = (name: string): string => name.replaceAll('-', '_').toUpperCase();

/**
 * Services whose variables a Pod of `namespace` gets: `kubernetes` always, the namespace's own where service links are
 * on (the namespace's own `kubernetes` before the default one).
 */
export function visibleServices(
  services: readonly Service[],
  namespace: string,
  enableServiceLinks: boolean,
): Service[] {
  const byName = new Map<string, Service>();
  for (const service of services) {
    const { name, namespace: ns } = service.metadata;
    if (ns === 'default' && name === 'kubernetes' && !byName.has(name)) byName.set(name, service);
    else if (ns === namespace && enableServiceLinks) byName.set(name, service);
  }
  return [...byName.values()];
}
