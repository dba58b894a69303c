import type { KubeObject } from '@tinkernetes/api';
import type { Strategy } from '../contracts';
import { controllerRevisionStrategy } from './apps/controllerrevision/strategy';
import { daemonSetStrategy } from './apps/daemonset/strategy';
import { deploymentStrategy } from './apps/deployment/strategy';
import { replicaSetStrategy } from './apps/replicaset/strategy';
import { statefulSetStrategy } from './apps/statefulset/strategy';
import { certificateSigningRequestStrategy } from './certificates/certificatesigningrequest/strategy';
import { leaseStrategy } from './coordination/lease/strategy';
import { configMapStrategy } from './core/configmap/strategy';
import { endpointsStrategy } from './core/endpoints/strategy';
import { eventStrategy, newEventStrategy } from './core/event/strategy';
import { namespaceStrategy } from './core/namespace/strategy';
import { nodeStrategy } from './core/node/strategy';
import { podStrategy } from './core/pod/strategy';
import { replicationControllerStrategy } from './core/replicationcontroller/strategy';
import { secretStrategy } from './core/secret/strategy';
import { serviceStrategy } from './core/service/strategy';
import { serviceAccountStrategy } from './core/serviceaccount/strategy';
import { endpointSliceStrategy } from './discovery/endpointslice/strategy';

/** A strategy works on its own kind only, and the registry hands it nothing else. */
const of = <T extends KubeObject>(strategy: Strategy<T>): Strategy => strategy as unknown as Strategy;

/** What is special about the built-in kinds, by `group/resource`. */
export const strategies: ReadonlyMap<string, Strategy> = new Map([
  ['/configmaps', of(configMapStrategy)],
  ['/endpoints', of(endpointsStrategy)],
  ['/events', of(eventStrategy)],
  ['/namespaces', of(namespaceStrategy)],
  ['/nodes', of(nodeStrategy)],
  ['/pods', of(podStrategy)],
  ['/replicationcontrollers', of(replicationControllerStrategy)],
  ['/secrets', of(secretStrategy)],
  ['/serviceaccounts', of(serviceAccountStrategy)],
  ['/services', of(serviceStrategy)],
  ['apps/controllerrevisions', of(controllerRevisionStrategy)],
  ['apps/daemonsets', of(daemonSetStrategy)],
  ['apps/deployments', of(deploymentStrategy)],
  ['apps/replicasets', of(replicaSetStrategy)],
  ['apps/statefulsets', of(statefulSetStrategy)],
  ['certificates.k8s.io/certificatesigningrequests', of(certificateSigningRequestStrategy)],
  ['coordination.k8s.io/leases', of(leaseStrategy)],
  ['discovery.k8s.io/endpointslices', of(endpointSliceStrategy)],
  ['events.k8s.io/events', of(newEventStrategy)],
]);
