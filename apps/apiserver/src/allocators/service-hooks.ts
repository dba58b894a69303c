import type { KubeObject, Service, ServicePort, ServiceSpec } from '@tinkernetes/api';
import { invalid, invalidError } from '@tinkernetes/apimachinery';
import type { Logger } from '@tinkernetes/component-base';
import type { FieldError, WriteHooks } from '../contracts';
import { IpAllocationError, type ClusterIps } from './cluster-ips';
import { validateClusterIps } from '../registry/core/service/cluster-ips';
import { initFamilies } from './ip-families';
import type { NodePorts } from './node-ports';

export interface ServiceAllocators {
  ips: ClusterIps;
  ports: NodePorts;
  logger: Logger;
}

const hasClusterIp = (spec: ServiceSpec): boolean =>
  spec.type !== 'ExternalName' && spec.clusterIP !== 'None';
const wantsNodePorts = (spec: ServiceSpec): boolean =>
  spec.type === 'NodePort' || (spec.type === 'LoadBalancer' && spec.allocateLoadBalancerNodePorts !== false);

/**
 * Gives Services their cluster IPs and node ports, and takes them back.
 * Source: pkg/registry/core/service/storage/alloc.go.
 */
export function createServiceHooks(allocators: ServiceAllocators): WriteHooks {
  const { ips, logger } = allocators;
  const releaseIp = (address: string) => {
    ips
      .release(address)
      .catch((error: unknown) => logger.warn({ err: error, address }, 'cluster IP not released'));
  };
  const hooks: WriteHooks<Service> = {
    async begin(service, old, { dryRun }) {
      const undo: (() => void)[] = [];
      const release = () => {
        for (const step of undo) step();
      };
      try {
        const settled = old ? keptFamilies(service) : newFamilies(service);
        const withIps = await allocateIps(allocators, settled, old, {
          dryRun,
          undo,
          releaseIp,
        });
        return { object: allocatePorts(allocators, withIps, { old, undo, dryRun }), release };
      } catch (error) {
        release();
        throw error;
      }
    },
    afterDelete: ({ spec }) => {
      for (const address of spec?.clusterIPs ?? []) if (address !== 'None') releaseIp(address);
    },
  };
  return hooks as unknown as WriteHooks;
}

/** Families where the client left them out; this cluster has IPv4 alone. */
function withFamilies(service: Service): Service {
  const spec = service.spec ?? {};
  if (spec.type === 'ExternalName') return service;
  const selectorless = spec.clusterIP === 'None' && Object.keys(spec.selector ?? {}).length === 0;
  const ipFamilyPolicy = spec.ipFamilyPolicy ?? (selectorless ? 'RequireDualStack' : 'SingleStack');
  const ipFamilies = spec.ipFamilies?.length
    ? spec.ipFamilies
    : selectorless
      ? (['IPv4', 'IPv6'] as const)
      : (['IPv4'] as const);
  const clusterIPs = spec.clusterIP === 'None' ? ['None'] : spec.clusterIPs;
  return {
    ...service,
    spec: {
      ...spec,
      ...(clusterIPs ? { clusterIPs } : undefined),
      ipFamilies: [...ipFamilies],
      ipFamilyPolicy,
    },
  };
}

function keptFamilies(service: Service): Service {
  const errors = validateClusterIps(service.spec ?? {});
  if (errors.length > 0) throw refuse(service, errors);
  return withFamilies(service);
}

function newFamilies(service: Service): Service {
  const { service: settled, errors } = initFamilies(service);
  if (errors.length > 0) throw refuse(service, errors);
  return settled;
}

interface IpWork {
  dryRun: boolean;
  undo: (() => void)[];
  releaseIp(address: string): void;
}

async function allocateIps(
  { ips }: ServiceAllocators,
  service: Service,
  old: Service | undefined,
  { dryRun, undo, releaseIp }: IpWork,
): Promise<Service> {
  const spec = service.spec ?? {};
  const before = (old?.spec?.clusterIPs ?? []).filter((ip) => ip !== 'None');
  if (!hasClusterIp(spec)) {
    if (!dryRun) for (const address of before) releaseIp(address);
    return service;
  }
  const wanted = spec.clusterIP || spec.clusterIPs?.[0];
  if (wanted && before.includes(wanted)) return service;
  if (wanted && before.length > 0) {
    // An address may not be exchanged, which validation says next; nothing is taken for it.
    const refused = validateClusterIps(spec);
    if (refused.length > 0) throw refuse(service, refused);
    return service;
  }
  try {
    const address = wanted || (await ips.takeNext(service, dryRun));
    if (wanted) await ips.take(wanted, service, dryRun);
    if (!dryRun) undo.push(() => releaseIp(address));
    return { ...service, spec: { ...spec, clusterIP: address, clusterIPs: [address] } };
  } catch (error) {
    if (!(error instanceof IpAllocationError)) throw error;
    const values = spec.clusterIPs?.length ? spec.clusterIPs : [wanted ?? ''];
    throw refuse(service, [
      invalid(
        'spec.clusterIPs',
        values,
        wanted ? `failed to allocate IP ${wanted}: ${error.message}` : error.message,
      ),
    ]);
  }
}

interface PortsOptions {
  old: Service | undefined;
  undo: (() => void)[];
  dryRun: boolean;
}

function allocatePorts(
  { ports }: ServiceAllocators,
  service: Service,
  { old, undo, dryRun }: PortsOptions,
): Service {
  const spec = service.spec ?? {};
  if (!wantsNodePorts(spec)) return { ...service, spec: { ...spec, ...healthCheckPort(ports, spec, undo) } };
  const kept = new Set(
    (old?.spec?.ports ?? []).map(({ nodePort, protocol = 'TCP' }) => `${protocol}:${nodePort ?? 0}`),
  );
  const given: ServicePort[] = [];
  for (const [i, port] of (spec.ports ?? []).entries()) {
    given.push({ ...port, nodePort: portFor({ ports, service, kept, given, undo, dryRun }, port, i) });
  }
  return { ...service, spec: { ...spec, ports: given, ...healthCheckPort(ports, spec, undo) } };
}

interface PortWork {
  ports: NodePorts;
  service: Service;
  /** Ports that the old version has. */
  kept: ReadonlySet<string>;
  /** Those given in this write so far. */
  given: readonly ServicePort[];
  undo: (() => void)[];
  dryRun: boolean;
}

function portFor(
  { ports, service, kept, given, undo, dryRun }: PortWork,
  port: ServicePort,
  index: number,
): number {
  const protocol = port.protocol ?? 'TCP';
  const field = `spec.ports[${index}].nodePort`;
  const wanted = port.nodePort ?? 0;
  if (wanted !== 0) {
    if (kept.has(`${protocol}:${wanted}`)) return wanted;
    // A trial does not ask for the range, as upstream's doesn't.
    if (!ports.inRange(wanted) && !dryRun) {
      const { from, to } = ports.range;
      throw refuse(service, [
        invalid(
          field,
          wanted,
          `provided port is not in the valid range. The range of valid ports is ${from}-${to}`,
        ),
      ]);
    }
    const repeated = given.some((g) => g.nodePort === wanted && (g.protocol ?? 'TCP') === protocol);
    if (repeated || ports.isTaken(wanted, protocol)) {
      throw refuse(service, [invalid(field, wanted, 'provided port is already allocated')]);
    }
    undo.push(ports.hold(wanted, protocol));
    return wanted;
  }
  // The same port over another protocol gets the same node port (DNS, HTTP/3).
  const sibling = given.find((g) => g.port === port.port && (g.protocol ?? 'TCP') !== protocol)?.nodePort;
  const free = sibling && !ports.isTaken(sibling, protocol) ? sibling : ports.findFree([protocol]);
  if (free === undefined) throw refuse(service, [invalid(field, wanted, 'range is full')]);
  undo.push(ports.hold(free, protocol));
  return free;
}

function healthCheckPort(
  ports: NodePorts,
  spec: ServiceSpec,
  undo: (() => void)[],
): { healthCheckNodePort?: number } {
  const needed = spec.type === 'LoadBalancer' && spec.externalTrafficPolicy === 'Local';
  if (!needed || spec.healthCheckNodePort) return {};
  const free = ports.findFree(['TCP']);
  if (free === undefined) return {};
  undo.push(ports.hold(free, 'TCP'));
  return { healthCheckNodePort: free };
}

const refuse = (service: KubeObject, errors: FieldError[]) =>
  invalidError({ group: '', kind: 'Service' }, service.metadata.name, errors);
