import { startBootstrapSigner } from '../controllers/bootstrap/bootstrap-signer-controller';
import { startTokenCleaner } from '../controllers/bootstrap/token-cleaner-controller';
import { startTtlController } from '../controllers/ttl/ttl-controller';
import { startServiceCidrController } from '../controllers/servicecidr/service-cidr-controller';
import { startServiceAccountTokenController } from '../controllers/serviceaccounttoken/token-controller';
import { startLegacyTokenCleaner } from '../controllers/serviceaccounttoken/legacy-token-cleaner-controller';
import { startCsrApprovingController } from '../controllers/certificates/csr-approving-controller';
import { startCsrCleanerController } from '../controllers/certificates/csr-cleaner-controller';
import { startCsrSigningController } from '../controllers/certificates/csr-signing-controller';
import { startAttachDetachController } from '../controllers/attachdetach/attach-detach-controller';
import { startClusterRoleAggregationController } from '../controllers/clusterroleaggregation/cluster-role-aggregation-controller';
import { startCronJobController } from '../controllers/cronjob/cron-job-controller';
import { startDaemonSetController } from '../controllers/daemonset/daemon-set-controller';
import { startDeploymentController } from '../controllers/deployment/deployment-controller';
import { startDeviceTaintEvictionController } from '../controllers/devicetainteviction/device-taint-eviction-controller';
import { startDisruptionController } from '../controllers/disruption/disruption-controller';
import { startEndpointsController } from '../controllers/endpoints/endpoints-controller';
import { startEndpointSliceController } from '../controllers/endpointslice/endpoint-slice-controller';
import { startEphemeralVolumeController } from '../controllers/ephemeralvolume/ephemeral-volume-controller';
import { startGarbageCollectorController } from '../controllers/garbagecollector/garbage-collector-controller';
import { startHostPathCsiController } from '../controllers/hostpathcsi/hostpath-csi-controller';
import { startJobController } from '../controllers/job/job-controller';
import { startEndpointSliceMirroringController } from '../controllers/mirroring/endpoint-slice-mirroring-controller';
import { startNamespaceController } from '../controllers/namespace/namespace-controller';
import { startNodeIpamController } from '../controllers/nodeipam/node-ipam-controller';
import { startNodeLifecycleController } from '../controllers/nodelifecycle/node-lifecycle-controller';
import { startHorizontalPodAutoscalerController } from '../controllers/podautoscaler/horizontal-controller';
import { startPodGcController } from '../controllers/podgc/pod-gc-controller';
import { startReplicaSetController } from '../controllers/replicaset/replica-set-controller';
import { startReplicationController } from '../controllers/replicationcontroller/replication-controller';
import { startResourceClaimController } from '../controllers/resourceclaim/resource-claim-controller';
import { startResourceQuotaController } from '../controllers/resourcequota/resource-quota-controller';
import { startRootCaCertPublisher } from '../controllers/rootca/root-ca-cert-publisher';
import { startServiceAccountController } from '../controllers/serviceaccount/service-account-controller';
import { startStatefulSetController } from '../controllers/statefulset/stateful-set-controller';
import { startTaintEvictionController } from '../controllers/tainteviction/taint-eviction-controller';
import { startTtlAfterFinishedController } from '../controllers/ttlafterfinished/ttl-after-finished-controller';
import { startValidatingAdmissionPolicyStatusController } from '../controllers/validatingadmissionpolicystatus/validating-admission-policy-status-controller';
import { startVolumeAttributesClassProtectionController } from '../controllers/volumeattributesclass/volume-attributes-class-protection-controller';
import { startVolumeBinderController } from '../controllers/volumebinder/persistent-volume-binder-controller';
import { startExpandController } from '../controllers/volumeexpand/expand-controller';
import { startClaimProtectionController } from '../controllers/volumeprotection/persistent-volume-claim-protection-controller';
import { startVolumeProtectionController } from '../controllers/volumeprotection/persistent-volume-protection-controller';
import type { ControllerDefinition } from './context';

/** Every controller that upstream's kube-controller-manager has, under its name; `absent` says why one is not here. */
export const controllers: readonly ControllerDefinition[] = [
  {
    name: 'node-ipam-controller',
    serviceAccount: 'node-controller',
    eventSource: 'cidrAllocator',
    watches: ['nodes'],
    writes: ['nodes'],
    leaderOnly: true,
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
    eventSource: 'replication-controller',
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
    eventSource: 'endpoint-slice-controller',
    watches: ['services', 'pods', 'nodes', 'endpointslices'],
    writes: ['endpointslices'],
    start: startEndpointSliceController,
  },
  {
    name: 'endpoints-controller',
    serviceAccount: 'endpoint-controller',
    eventSource: 'endpoint-controller',
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
    eventSource: 'node-controller',
    watches: ['nodes', 'leases', 'pods'],
    writes: ['nodes', 'nodes/status', 'pods/status'],
    leaderOnly: true,
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
    leaderOnly: true,
    start: startPodGcController,
  },
  {
    name: 'serviceaccount-token-controller',
    actsAsManager: true,
    watches: ['serviceaccounts', 'secrets'],
    writes: ['secrets', 'serviceaccounts'],
    start: startServiceAccountTokenController,
  },
  {
    name: 'endpointslice-mirroring-controller',
    serviceAccount: 'endpointslicemirroring-controller',
    eventSource: 'endpoint-slice-mirroring-controller',
    watches: ['endpoints', 'endpointslices', 'services'],
    writes: ['endpointslices'],
    start: startEndpointSliceMirroringController,
  },
  {
    name: 'resourcequota-controller',
    watches: ['resourcequotas', 'everything counted'],
    writes: ['resourcequotas/status'],
    start: startResourceQuotaController,
  },
  {
    name: 'horizontal-pod-autoscaler-controller',
    serviceAccount: 'horizontal-pod-autoscaler',
    eventSource: 'horizontal-pod-autoscaler',
    watches: ['horizontalpodautoscalers', 'pods'],
    writes: ['scale subresources', 'horizontalpodautoscalers/status'],
    leaderOnly: true,
    start: startHorizontalPodAutoscalerController,
  },
  {
    name: 'disruption-controller',
    eventSource: 'controllermanager',
    watches: ['poddisruptionbudgets', 'pods', 'workloads'],
    writes: ['poddisruptionbudgets/status', 'pods/status'],
    start: startDisruptionController,
  },
  {
    name: 'certificatesigningrequest-cleaner-controller',
    serviceAccount: 'certificate-controller',
    watches: ['certificatesigningrequests'],
    writes: ['certificatesigningrequests'],
    start: startCsrCleanerController,
  },
  {
    name: 'ttl-controller',
    watches: ['nodes'],
    writes: ['nodes'],
    start: startTtlController,
  },
  {
    name: 'bootstrap-signer-controller',
    serviceAccount: 'bootstrap-signer',
    watches: ['secrets', 'configmaps'],
    writes: ['configmaps'],
    disabledByDefault: true,
    start: startBootstrapSigner,
  },
  {
    name: 'token-cleaner-controller',
    serviceAccount: 'token-cleaner',
    watches: ['secrets'],
    writes: ['secrets'],
    disabledByDefault: true,
    start: startTokenCleaner,
  },
  {
    name: 'persistentvolume-binder-controller',
    serviceAccount: 'persistent-volume-binder',
    eventSource: 'persistentvolume-controller',
    watches: ['persistentvolumes', 'persistentvolumeclaims', 'storageclasses', 'nodes', 'pods'],
    writes: ['persistentvolumes', 'persistentvolumeclaims'],
    start: startVolumeBinderController,
  },
  {
    name: 'persistentvolume-attach-detach-controller',
    serviceAccount: 'attachdetach-controller',
    eventSource: 'attachdetach-controller',
    watches: ['pods', 'nodes', 'volumeattachments'],
    writes: ['volumeattachments', 'nodes/status'],
    leaderOnly: true,
    start: startAttachDetachController,
  },
  {
    name: 'persistentvolume-expander-controller',
    serviceAccount: 'expand-controller',
    eventSource: 'volume_expand',
    watches: ['persistentvolumeclaims', 'persistentvolumes'],
    writes: ['persistentvolumes', 'persistentvolumeclaims/status'],
    start: startExpandController,
  },
  {
    name: 'clusterrole-aggregation-controller',
    watches: ['clusterroles'],
    writes: ['clusterroles'],
    start: startClusterRoleAggregationController,
  },
  {
    name: 'persistentvolumeclaim-protection-controller',
    serviceAccount: 'pvc-protection-controller',
    watches: ['persistentvolumeclaims', 'pods'],
    writes: ['persistentvolumeclaims'],
    start: startClaimProtectionController,
  },
  {
    name: 'persistentvolume-protection-controller',
    serviceAccount: 'pv-protection-controller',
    watches: ['persistentvolumes'],
    writes: ['persistentvolumes'],
    start: startVolumeProtectionController,
  },
  {
    name: 'ttl-after-finished-controller',
    watches: ['jobs'],
    writes: ['jobs'],
    start: startTtlAfterFinishedController,
  },
  {
    name: 'ephemeral-volume-controller',
    eventSource: 'ephemeral_volume',
    watches: ['pods', 'persistentvolumeclaims'],
    writes: ['persistentvolumeclaims'],
    start: startEphemeralVolumeController,
  },
  {
    name: 'resourceclaim-controller',
    serviceAccount: 'resource-claim-controller',
    eventSource: 'resource_claim',
    watches: ['resourceclaims', 'resourceclaimtemplates', 'pods'],
    writes: ['resourceclaims', 'resourceclaims/status', 'pods/status'],
    start: startResourceClaimController,
  },
  {
    name: 'service-cidr-controller',
    serviceAccount: 'service-cidrs-controller',
    watches: ['servicecidrs', 'ipaddresses'],
    writes: ['servicecidrs'],
    start: startServiceCidrController,
  },
  {
    name: 'validatingadmissionpolicy-status-controller',
    watches: ['validatingadmissionpolicies'],
    writes: ['validatingadmissionpolicies/status'],
    start: startValidatingAdmissionPolicyStatusController,
  },
  {
    name: 'volumeattributesclass-protection-controller',
    watches: ['volumeattributesclasses', 'persistentvolumes', 'persistentvolumeclaims'],
    writes: ['volumeattributesclasses'],
    start: startVolumeAttributesClassProtectionController,
  },
  {
    name: 'legacy-serviceaccount-token-cleaner-controller',
    serviceAccount: 'legacy-service-account-token-cleaner',
    watches: ['secrets', 'pods', 'serviceaccounts'],
    writes: ['secrets'],
    leaderOnly: true,
    start: startLegacyTokenCleaner,
  },
  {
    name: 'device-taint-eviction-controller',
    watches: ['resourceslices', 'resourceclaims', 'pods'],
    writes: ['pods', 'pods/status'],
    leaderOnly: true,
    start: startDeviceTaintEvictionController,
  },
  {
    name: 'podcertificaterequest-cleaner-controller',
    watches: ['podcertificaterequests'],
    writes: ['podcertificaterequests'],
    absent: 'needs PodCertificateRequests, which are off by default',
  },
  {
    name: 'kube-apiserver-serving-clustertrustbundle-publisher-controller',
    watches: ['configmaps'],
    writes: ['clustertrustbundles'],
    absent: 'needs ClusterTrustBundles, which are off by default',
  },
  {
    name: 'storageversion-garbage-collector-controller',
    watches: ['leases', 'storageversions'],
    writes: ['storageversions/status'],
    absent: 'needs StorageVersions, which are off by default',
  },
  {
    name: 'storage-version-migrator-controller',
    watches: ['storageversionmigrations'],
    writes: ['everything'],
    absent: 'needs StorageVersionMigrations, which are off by default',
  },
  {
    name: 'selinux-warning-controller',
    watches: ['pods'],
    writes: ['events'],
    disabledByDefault: true,
    absent: 'nodes have no SELinux',
  },
  {
    name: 'node-route-controller',
    serviceAccount: 'route-controller',
    watches: ['nodes'],
    writes: ['routes of a cloud'],
    absent: 'needs a cloud',
  },
  {
    name: 'service-lb-controller',
    serviceAccount: 'service-controller',
    watches: ['services', 'nodes'],
    writes: ['load balancers of a cloud'],
    absent: 'needs a cloud',
  },
  {
    name: 'cloud-node-lifecycle-controller',
    watches: ['nodes'],
    writes: ['nodes'],
    absent: 'needs a cloud',
  },
  {
    // Not in upstream's list: a CSI driver's controllers, which elsewhere are a Deployment of their own.
    name: 'hostpath-csi-controller',
    watches: ['persistentvolumeclaims', 'persistentvolumes', 'volumeattachments', 'csinodes', 'nodes'],
    writes: [
      'persistentvolumes',
      'persistentvolumeclaims',
      'persistentvolumeclaims/status',
      'volumeattachments',
    ],
    leaderOnly: true,
    start: startHostPathCsiController,
  },
];
