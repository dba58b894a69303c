import { startCsrApprovingController } from '../controllers/certificates/csr-approving-controller';
import { startCsrSigningController } from '../controllers/certificates/csr-signing-controller';
import { startDeploymentController } from '../controllers/deployment/deployment-controller';
import { startEndpointsController } from '../controllers/endpoints/endpoints-controller';
import { startEndpointSliceController } from '../controllers/endpointslice/endpoint-slice-controller';
import { startGarbageCollectorController } from '../controllers/garbagecollector/garbage-collector-controller';
import { startNamespaceController } from '../controllers/namespace/namespace-controller';
import { startNodeIpamController } from '../controllers/nodeipam/node-ipam-controller';
import { startReplicaSetController } from '../controllers/replicaset/replica-set-controller';
import { startRootCaCertPublisher } from '../controllers/rootca/root-ca-cert-publisher';
import { startServiceAccountController } from '../controllers/serviceaccount/service-account-controller';
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
];
