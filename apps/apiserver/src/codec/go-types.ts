/**
 * What the wire schema does not tell about the Go types that upstream encodes: which fields are plain values with
 * `omitempty` (an explicit zero vanishes), which strings are pointers (an explicit "" stays) and which structs are
 * always written. Source: k8s.io/api, struct tags of the types named here.
 */
export const omittedZeros: ReadonlySet<string> = new Set(
  `
  ObjectMeta.generation PodSpec.hostNetwork PodSpec.hostPID PodSpec.hostIPC
  Container.stdin Container.stdinOnce Container.tty EphemeralContainer.stdin EphemeralContainer.stdinOnce
  EphemeralContainer.tty ContainerPort.hostPort VolumeMount.readOnly Probe.initialDelaySeconds Probe.timeoutSeconds
  Probe.periodSeconds Probe.successThreshold Probe.failureThreshold DeploymentSpec.minReadySeconds
  DeploymentSpec.paused ReplicaSetSpec.minReadySeconds StatefulSetSpec.minReadySeconds
  DaemonSetSpec.minReadySeconds ReplicationControllerSpec.minReadySeconds ServiceSpec.publishNotReadyAddresses
  ServiceSpec.healthCheckNodePort ServicePort.nodePort NodeSpec.unschedulable PersistentVolumeClaimVolumeSource.readOnly
  CSIPersistentVolumeSource.readOnly NFSVolumeSource.readOnly ISCSIVolumeSource.readOnly RBDVolumeSource.readOnly
  AWSElasticBlockStoreVolumeSource.readOnly GCEPersistentDiskVolumeSource.readOnly CephFSVolumeSource.readOnly
  FCVolumeSource.readOnly FlexVolumeSource.readOnly GlusterfsVolumeSource.readOnly CinderVolumeSource.readOnly
  QuobyteVolumeSource.readOnly PortworxVolumeSource.readOnly ScaleIOVolumeSource.readOnly StorageOSVolumeSource.readOnly
  PersistentVolumeClaimVolumeSource.readOnly DeploymentStatus.observedGeneration DeploymentStatus.replicas
  DeploymentStatus.updatedReplicas DeploymentStatus.readyReplicas DeploymentStatus.availableReplicas
  DeploymentStatus.unavailableReplicas ReplicaSetStatus.fullyLabeledReplicas ReplicaSetStatus.readyReplicas
  ReplicaSetStatus.availableReplicas ReplicaSetStatus.observedGeneration StatefulSetStatus.observedGeneration
  StatefulSetStatus.readyReplicas StatefulSetStatus.currentReplicas StatefulSetStatus.updatedReplicas
  DaemonSetStatus.observedGeneration DaemonSetStatus.updatedNumberScheduled DaemonSetStatus.numberAvailable
  DaemonSetStatus.numberUnavailable JobStatus.active JobStatus.succeeded JobStatus.failed Event.count
  EventSeries.count PriorityClass.globalDefault ScaleSpec.replicas PodDisruptionBudgetStatus.observedGeneration
  ReplicationControllerStatus.fullyLabeledReplicas ReplicationControllerStatus.readyReplicas
  ReplicationControllerStatus.availableReplicas ReplicationControllerStatus.observedGeneration
  PodStatus.observedGeneration PodCondition.observedGeneration Condition.observedGeneration
  DeprecatedEventSource.deprecatedCount ServiceReference.namespace APIServiceSpec.insecureSkipTLSVerify
  ContainerStateTerminated.signal HorizontalPodAutoscalerStatus.currentReplicas CustomResourceDefinitionSpec.preserveUnknownFields
  CustomResourceColumnDefinition.priority CustomResourceDefinitionVersion.deprecated JSONSchemaProps.exclusiveMaximum
  JSONSchemaProps.exclusiveMinimum JSONSchemaProps.uniqueItems JSONSchemaProps.nullable
  JSONSchemaProps.x-kubernetes-embedded-resource JSONSchemaProps.x-kubernetes-int-or-string
`
    .trim()
    .split(/\s+/),
);

/** String fields that are pointers: an explicit empty string is kept. */
export const pointerStrings: ReadonlySet<string> = new Set(
  `
  PersistentVolumeClaimSpec.storageClassName PersistentVolumeClaimSpec.volumeMode
  PersistentVolumeClaimSpec.volumeAttributesClassName PersistentVolumeSpec.volumeMode
  PersistentVolumeSpec.volumeAttributesClassName TypedLocalObjectReference.apiGroup TypedObjectReference.apiGroup
  TypedObjectReference.namespace ServicePort.appProtocol EndpointPort.appProtocol EndpointPort.name
  EndpointPort.protocol Endpoint.hostname Endpoint.nodeName Endpoint.zone ServiceSpec.loadBalancerClass
  ServiceSpec.ipFamilyPolicy ServiceSpec.internalTrafficPolicy ServiceSpec.trafficDistribution
  IngressSpec.ingressClassName IngressClassParametersReference.apiGroup IngressClassParametersReference.scope
  IngressClassParametersReference.namespace HTTPIngressPath.pathType NetworkPolicyPort.protocol
  PodSpec.runtimeClassName PodSpec.preemptionPolicy PodSpec.hostnameOverride LeaseSpec.holderIdentity LeaseSpec.strategy
  LeaseSpec.preferredHolder SELinuxOptions.user StorageClass.reclaimPolicy StorageClass.volumeBindingMode
  ServiceReference.path WebhookClientConfig.url ValidatingWebhook.failurePolicy Container.restartPolicy
  EnvVarSource.fieldRef WindowsSecurityContextOptions.gmsaCredentialSpecName
  WindowsSecurityContextOptions.gmsaCredentialSpec WindowsSecurityContextOptions.runAsUserName
  SeccompProfile.localhostProfile AppArmorProfile.localhostProfile VolumeMount.mountPropagation
  VolumeMount.recursiveReadOnly GRPCAction.service CSIVolumeSource.fsType CSIDriverSpec.fsGroupPolicy
  VolumeAttachmentSource.persistentVolumeName ScopedResourceSelectorRequirement.operator
  HostPathVolumeSource.type AzureDiskVolumeSource.cachingMode PodResourceClaim.resourceClaimName
  PodResourceClaim.resourceClaimTemplateName PriorityClass.preemptionPolicy JobSpec.completionMode
  JobSpec.podReplacementPolicy JobSpec.managedBy CronJobSpec.timeZone
`
    .trim()
    .split(/\s+/),
);

/** Struct fields that are written even when empty. `spec` and `status` of kinds are, unless listed in `pointerStructs`. */
export const alwaysStructs: ReadonlySet<string> = new Set(
  `
  Container.resources EphemeralContainer.resources PodTemplateSpec.metadata PodTemplateSpec.spec PodTemplate.template
  DeploymentSpec.strategy DeploymentSpec.template StatefulSetSpec.template StatefulSetSpec.updateStrategy
  DaemonSetSpec.template DaemonSetSpec.updateStrategy ReplicaSetSpec.template JobSpec.template
  CronJobSpec.jobTemplate JobTemplateSpec.metadata JobTemplateSpec.spec ServiceStatus.loadBalancer
  IngressStatus.loadBalancer PersistentVolumeClaimSpec.resources PersistentVolumeClaimTemplate.spec
  NodeStatus.daemonEndpoints NodeDaemonEndpoints.kubeletEndpoint NodeStatus.nodeInfo ContainerStatus.state
  ContainerStatus.lastState Event.involvedObject Event.source Binding.target Endpoint.conditions
  EventsV1Event.regarding EventsV1Event.deprecatedSource RoleBinding.roleRef ClusterRoleBinding.roleRef
  ValidatingWebhook.clientConfig MutatingWebhook.clientConfig HorizontalPodAutoscalerSpec.scaleTargetRef
  VolumeAttachmentSpec.source NetworkPolicySpec.podSelector FlowSchemaSpec.priorityLevelConfiguration
  LimitedPriorityLevelConfiguration.limitResponse CustomResourceDefinitionSpec.names
  CustomResourceDefinitionStatus.acceptedNames ResourceClaimTemplateSpec.spec ResourceClaimTemplateSpec.metadata ResourceClaimSpec.devices
  ResourceSliceSpec.pool
`
    .trim()
    .split(/\s+/),
);

/** `spec` or `status` fields that are pointers or left out when empty. */
export const pointerStructs: ReadonlySet<string> = new Set(['PodTemplate.status']);

/** Times and pointers without omitempty: null when they are not set. */
export const nullTimes: ReadonlySet<string> = new Set(
  `
  DeploymentCondition.lastUpdateTime DeploymentCondition.lastTransitionTime PodCondition.lastProbeTime
  PodCondition.lastTransitionTime NodeCondition.lastHeartbeatTime NodeCondition.lastTransitionTime
  ReplicaSetCondition.lastTransitionTime StatefulSetCondition.lastTransitionTime DaemonSetCondition.lastTransitionTime
  ReplicationControllerCondition.lastTransitionTime JobCondition.lastProbeTime JobCondition.lastTransitionTime
  NamespaceCondition.lastTransitionTime PersistentVolumeClaimCondition.lastProbeTime
  PersistentVolumeClaimCondition.lastTransitionTime HorizontalPodAutoscalerCondition.lastTransitionTime
  CertificateSigningRequestCondition.lastUpdateTime CertificateSigningRequestCondition.lastTransitionTime
  CustomResourceDefinitionCondition.lastTransitionTime APIServiceCondition.lastTransitionTime
  Condition.lastTransitionTime Event.firstTimestamp Event.lastTimestamp Event.eventTime EventSeries.lastObservedTime
  TypedLocalObjectReference.apiGroup TypedObjectReference.apiGroup
  ContainerStateRunning.startedAt ContainerStateTerminated.startedAt ContainerStateTerminated.finishedAt
`
    .trim()
    .split(/\s+/),
);

/** Required (no omitempty) lists that are written as null when they are missing. */
export const nullLists: ReadonlySet<string> = new Set([
  'ClusterRole.rules',
  'Role.rules',
  'EndpointSlice.endpoints',
  'EndpointSlice.ports',
  'CustomResourceDefinitionStatus.conditions',
  'CustomResourceDefinitionStatus.storedVersions',
]);
