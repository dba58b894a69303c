import {
  type Condition,
  EndpointsResource,
  EndpointSlices,
  IPAddresses,
  Services,
  ServiceCIDRs,
  type Endpoints,
  type EndpointSlice,
  type KubeObject,
  type Service,
} from '@tinkernetes/api';
import { deepEqual } from '@tinkernetes/apimachinery';
import { formatTime } from '@tinkernetes/component-base';
import type { StoreRegistry } from '../contracts';
import { createUnlessThere } from './bootstrap-objects';

export interface OwnAddress {
  /** Where members of the cluster reach this server. */
  address: string;
  port: number;
  /** The cluster IP of `kubernetes.default`: the first of the range. */
  clusterIp: string;
  serviceCidr: string;
  now: number;
}

/** Fields that these objects have are the server's. */
const ownership = { fieldManager: 'kube-apiserver' };

const name = 'kubernetes';
const namespace = 'default';

/** The `kubernetes` Service with its endpoints, and the ServiceCIDR that cluster IPs come from. */
export async function publishOwnAddress(stores: StoreRegistry, own: OwnAddress): Promise<void> {
  await createServiceCidr(stores, own);
  const services = stores.for(Services);
  if (!services.peek(name, namespace))
    await createUnlessThere(services, serviceOf(own) as KubeObject, ownership);
  await recordClusterIp(stores, own);
  // Endpoints can't be on a loopback address: then the Service has none.
  if (own.address.startsWith('127.') || own.address === '0.0.0.0') return;
  await ensure(stores.for(EndpointsResource), endpointsOf(own), (e) => e.subsets);
  await ensure(stores.for(EndpointSlices), sliceOf(own), (s) => [s.endpoints, s.ports]);
}

async function createServiceCidr(stores: StoreRegistry, { serviceCidr, now }: OwnAddress): Promise<void> {
  const store = stores.for(ServiceCIDRs);
  if (store.peek(name)) return;
  await createUnlessThere(
    store,
    {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'ServiceCIDR',
      metadata: { name },
      spec: { cidrs: [serviceCidr] },
    } as KubeObject,
    ownership,
  );
  // Upstream applies it without a reason, which nobody owns then.
  const condition = {
    type: 'Ready',
    status: 'True',
    message: 'Kubernetes Service CIDR is ready',
    lastTransitionTime: formatTime(now),
  } as Condition;
  await store.modify(name, undefined, (cidr) => ({ ...cidr, status: { conditions: [condition] } }), {
    fieldManager: 'kubernetes-service-cidr-controller',
    operation: 'Apply',
    subresource: 'status',
  });
}

async function recordClusterIp(stores: StoreRegistry, { clusterIp }: OwnAddress): Promise<void> {
  const store = stores.for(IPAddresses);
  if (store.peek(clusterIp)) return;
  await createUnlessThere(
    store,
    {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'IPAddress',
      metadata: {
        name: clusterIp,
        labels: {
          'ipaddress.kubernetes.io/ip-family': 'IPv4',
          'ipaddress.kubernetes.io/managed-by': 'ipallocator.k8s.io',
        },
      },
      spec: { parentRef: { resource: 'services', namespace, name } },
    } as KubeObject,
    ownership,
  );
}

async function ensure<T extends KubeObject>(
  store: ReturnType<StoreRegistry['for']>,
  wanted: T,
  relevant: (object: T) => unknown,
): Promise<void> {
  const present = store.peek(name, namespace) as T | undefined;
  if (!present) {
    await createUnlessThere(store, wanted, ownership);
    return;
  }
  if (deepEqual(relevant(present), relevant(wanted))) return;
  await store.modify(name, namespace, (current) => ({ ...wanted, metadata: current.metadata }));
}

const serviceOf = ({ clusterIp, port }: OwnAddress): Service => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, namespace, labels: { component: 'apiserver', provider: 'kubernetes' } },
  spec: {
    type: 'ClusterIP',
    clusterIP: clusterIp,
    clusterIPs: [clusterIp],
    ipFamilies: ['IPv4'],
    ipFamilyPolicy: 'SingleStack',
    internalTrafficPolicy: 'Cluster',
    sessionAffinity: 'None',
    ports: [{ name: 'https', port: 443, protocol: 'TCP', targetPort: port }],
  },
});

const endpointsOf = ({ address, port }: OwnAddress): Endpoints => ({
  apiVersion: 'v1',
  kind: 'Endpoints',
  metadata: { name, namespace, labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } },
  subsets: [{ addresses: [{ ip: address }], ports: [{ name: 'https', port, protocol: 'TCP' }] }],
});

const sliceOf = ({ address, port }: OwnAddress): EndpointSlice => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { name, namespace, labels: { 'kubernetes.io/service-name': name } },
  addressType: 'IPv4',
  endpoints: [{ addresses: [address], conditions: { ready: true } }],
  ports: [{ name: 'https', port, protocol: 'TCP' }],
});
