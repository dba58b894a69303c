import { startCsrApprovingController } from '../controllers/certificates/csr-approving-controller';
import { startCsrSigningController } from '../controllers/certificates/csr-signing-controller';
import { startCronJobController } from '../controllers/cronjob/cron-job-controller';
import { startDaemonSetController } from '../controllers/daemonset/daemon-set-controller';
import { startDeploymentController } from '../controllers/deployment/deployment-controller';
import { startEndpointsController } from '../controllers/endpoints/endpoints-controller';
import { startEndpointSliceController } from '../controllers/endpointslice/endpoint-slice-controller';
import { startGarbageCollectorController } from '../controllers/garbagecollector/garbage-collector-controller';
import { startJobController } from '../controllers/job/job-controller';
import { startNamespaceController } from '../controllers/namespace/namespace-controller';
import { startNodeIpamController } from '../controllers/nodeipam/node-ipam-controller';
import { startNodeLifecycleController } from '../controllers/nodelifecycle/node-lifecycle-controller';
import { startPodGcController } from '../controllers/podgc/pod-gc-controller';
import { startReplicaSetController } from '../controllers/replicaset/replica-set-controller';
import { startReplicationController } from '../controllers/replicationcontroller/replication-controller';
import { startRootCaCertPublisher } from '../controllers/rootca/root-ca-cert-publisher';
import { startServiceAccountController } from '../controllers/serviceaccount/service-account-controller';
import { startStatefulSetController } from '../controllers/statefulset/stateful-set-controller';
import { startTaintEvictionController } from '../controllers/tainteviction/taint-eviction-controller';
import type { ControllerDefinition } from './context';

/** Every controller that upstream's kube-controller-manager has, under its name. One without `start` is not implemented. */
export const controllers: readonly ControllerDefinition[] = [
  {
    name: 'node-ipam-controller',
    serviceAccount: 'node-controller',
    watches: ['nodes'],
    writes: ['nodes'],
    start: startNodeIpamController,
  },
  {
    name: 'certificatesigningrequest-approving-controller',
    serviceAccount: 'certificate-controller',
    watches: ['certificatesigningrequests'],
    writes: ['certificatesigningrequests/approval'],
    start: startCsrApprovingController,
  },
  {
    name: 'certificatesigningrequest-signing-controller',
    serviceAccount: 'certificate-controller',
    watches: ['certificatesigningrequests'],
    writes: ['certificatesigningrequests/status'],
    start: startCsrSigningController,
  },
  {
    name: 'serviceaccount-controller',
    serviceAccount: 'service-account-controller',
    watches: ['namespaces', 'serviceaccounts'],
    writes: ['serviceaccounts'],
    start: startServiceAccountController,
  },
  {
    name: 'root-ca-certificate-publisher-controller',
    serviceAccount: 'root-ca-cert-publisher',
    watches: ['namespaces', 'configmaps'],
    writes: ['configmaps'],
    start: startRootCaCertPublisher,
  },
  {
    name: 'deployment-controller',
    watches: ['deployments', 'replicasets', 'pods'],
    writes: ['replicasets', 'deployments/status'],
    start: startDeploymentController,
  },
  {
    name: 'replicaset-controller',
    watches: ['replicasets', 'pods'],
    writes: ['pods', 'replicasets/status'],
    start: startReplicaSetController,
  },
  {
    name: 'replicationcontroller-controller',
    serviceAccount: 'replication-controller',
    watches: ['replicationcontrollers', 'pods'],
    writes: ['pods', 'replicationcontrollers/status'],
    start: startReplicationController,
  },
  {
    name: 'statefulset-controller',
    watches: ['statefulsets', 'pods', 'controllerrevisions', 'persistentvolumeclaims'],
    writes: ['pods', 'controllerrevisions', 'persistentvolumeclaims', 'statefulsets/status'],
    start: startStatefulSetController,
  },
  {
    name: 'daemonset-controller',
    serviceAccount: 'daemon-set-controller',
    watches: ['daemonsets', 'pods', 'nodes', 'controllerrevisions'],
    writes: ['pods', 'controllerrevisions', 'daemonsets/status'],
    start: startDaemonSetController,
  },
  {
    name: 'job-controller',
    watches: ['jobs', 'pods'],
    writes: ['pods', 'jobs/status'],
    start: startJobController,
  },
  {
    name: 'cronjob-controller',
    watches: ['cronjobs', 'jobs'],
    writes: ['jobs', 'cronjobs/status'],
    start: startCronJobController,
  },
  {
    name: 'endpointslice-controller',
    watches: ['services', 'pods', 'nodes', 'endpointslices'],
    writes: ['endpointslices'],
    start: startEndpointSliceController,
  },
  {
    name: 'endpoints-controller',
    serviceAccount: 'endpoint-controller',
    watches: ['services', 'pods', 'endpoints'],
    writes: ['endpoints'],
    start: startEndpointsController,
  },
  {
    name: 'namespace-controller',
    watches: ['namespaces'],
    writes: ['namespaces', 'everything in them'],
    start: startNamespaceController,
  },
  {
    name: 'garbage-collector-controller',
    serviceAccount: 'generic-garbage-collector',
    watches: ['everything'],
    writes: ['everything'],
    start: startGarbageCollectorController,
  },
  {
    name: 'node-lifecycle-controller',
    serviceAccount: 'node-controller',
    watches: ['nodes', 'leases', 'pods'],
    writes: ['nodes', 'nodes/status', 'pods/status'],
    start: startNodeLifecycleController,
  },
  {
    name: 'taint-eviction-controller',
    serviceAccount: 'node-controller',
    watches: ['nodes', 'pods'],
    writes: ['pods'],
    start: startTaintEvictionController,
  },
  {
    name: 'pod-garbage-collector-controller',
    serviceAccount: 'pod-garbage-collector',
    watches: ['pods', 'nodes'],
    writes: ['pods'],
    start: startPodGcController,
  },
];
