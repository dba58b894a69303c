import type { KubeObject } from '@tinkernetes/api';
import type { Strategy } from '../contracts';
import {
  mutatingAdmissionPolicyBindingStrategy,
  validatingAdmissionPolicyBindingStrategy,
} from './admissionregistration/policy-bindings';
import {
  mutatingAdmissionPolicyStrategy,
  validatingAdmissionPolicyStrategy,
} from './admissionregistration/policies';
import {
  mutatingWebhookConfigurationStrategy,
  validatingWebhookConfigurationStrategy,
} from './admissionregistration/webhooks';
import { apiServiceStrategy } from './apiregistration/apiservice/strategy';
import { controllerRevisionStrategy } from './apps/controllerrevision/strategy';
import { daemonSetStrategy } from './apps/daemonset/strategy';
import { deploymentStrategy } from './apps/deployment/strategy';
import { replicaSetStrategy } from './apps/replicaset/strategy';
import { statefulSetStrategy } from './apps/statefulset/strategy';
import { horizontalPodAutoscalerStrategy } from './autoscaling/horizontalpodautoscaler/strategy';
import { cronJobStrategy } from './batch/cronjob/strategy';
import { jobStrategy } from './batch/job/strategy';
import { certificateSigningRequestStrategy } from './certificates/certificatesigningrequest/strategy';
import { leaseStrategy } from './coordination/lease/strategy';
import { componentStatusStrategy } from './core/componentstatus/strategy';
import { configMapStrategy } from './core/configmap/strategy';
import { endpointsStrategy } from './core/endpoints/strategy';
import { eventStrategy, newEventStrategy } from './core/event/strategy';
import { limitRangeStrategy } from './core/limitrange/strategy';
import { namespaceStrategy } from './core/namespace/strategy';
import { nodeStrategy } from './core/node/strategy';
import { persistentVolumeStrategy } from './core/persistentvolume/strategy';
import { persistentVolumeClaimStrategy } from './core/persistentvolumeclaim/strategy';
import { podStrategy } from './core/pod/strategy';
import { podTemplateStrategy } from './core/podtemplate/strategy';
import { replicationControllerStrategy } from './core/replicationcontroller/strategy';
import { resourceQuotaStrategy } from './core/resourcequota/strategy';
import { secretStrategy } from './core/secret/strategy';
import { serviceStrategy } from './core/service/strategy';
import { serviceAccountStrategy } from './core/serviceaccount/strategy';
import { endpointSliceStrategy } from './discovery/endpointslice/strategy';
import { flowSchemaStrategy } from './flowcontrol/flowschema/strategy';
import { priorityLevelConfigurationStrategy } from './flowcontrol/prioritylevelconfiguration/strategy';
import { ingressStrategy } from './networking/ingress/strategy';
import { ingressClassStrategy } from './networking/ingressclass/strategy';
import { ipAddressStrategy } from './networking/ipaddress/strategy';
import { networkPolicyStrategy } from './networking/networkpolicy/strategy';
import { serviceCidrStrategy } from './networking/servicecidr/strategy';
import { runtimeClassStrategy } from './node/runtimeclass/strategy';
import { podDisruptionBudgetStrategy } from './policy/poddisruptionbudget/strategy';
import { clusterRoleStrategy, roleStrategy } from './rbac/role/strategy';
import { clusterRoleBindingStrategy, roleBindingStrategy } from './rbac/rolebinding/strategy';
import {
  deviceClassStrategy,
  resourceClaimStrategy,
  resourceClaimTemplateStrategy,
  resourceSliceStrategy,
} from './resource/strategies';
import { priorityClassStrategy } from './scheduling/priorityclass/strategy';
import { csiDriverStrategy } from './storage/csidriver/strategy';
import { storageClassStrategy } from './storage/storageclass/strategy';
import {
  csiNodeStrategy,
  csiStorageCapacityStrategy,
  volumeAttachmentStrategy,
  volumeAttributesClassStrategy,
} from './storage/strategies';

/** A strategy works on its own kind only, and the registry hands it nothing else. */
const of = <T extends KubeObject>(strategy: Strategy<T>): Strategy => strategy as unknown as Strategy;

/** What is special about the built-in kinds, by `group/resource`. */
export const strategies: ReadonlyMap<string, Strategy> = new Map([
  ['/componentstatuses', componentStatusStrategy],
  ['/configmaps', of(configMapStrategy)],
  ['/endpoints', of(endpointsStrategy)],
  ['/events', of(eventStrategy)],
  ['/limitranges', of(limitRangeStrategy)],
  ['/namespaces', of(namespaceStrategy)],
  ['/nodes', of(nodeStrategy)],
  ['/persistentvolumeclaims', of(persistentVolumeClaimStrategy)],
  ['/persistentvolumes', of(persistentVolumeStrategy)],
  ['/pods', of(podStrategy)],
  ['/podtemplates', of(podTemplateStrategy)],
  ['/replicationcontrollers', of(replicationControllerStrategy)],
  ['/resourcequotas', of(resourceQuotaStrategy)],
  ['/secrets', of(secretStrategy)],
  ['/serviceaccounts', of(serviceAccountStrategy)],
  ['/services', of(serviceStrategy)],
  ['admissionregistration.k8s.io/mutatingadmissionpolicies', of(mutatingAdmissionPolicyStrategy)],
  [
    'admissionregistration.k8s.io/mutatingadmissionpolicybindings',
    of(mutatingAdmissionPolicyBindingStrategy),
  ],
  ['admissionregistration.k8s.io/mutatingwebhookconfigurations', of(mutatingWebhookConfigurationStrategy)],
  ['admissionregistration.k8s.io/validatingadmissionpolicies', of(validatingAdmissionPolicyStrategy)],
  [
    'admissionregistration.k8s.io/validatingadmissionpolicybindings',
    of(validatingAdmissionPolicyBindingStrategy),
  ],
  [
    'admissionregistration.k8s.io/validatingwebhookconfigurations',
    of(validatingWebhookConfigurationStrategy),
  ],
  ['apiregistration.k8s.io/apiservices', of(apiServiceStrategy)],
  ['apps/controllerrevisions', of(controllerRevisionStrategy)],
  ['apps/daemonsets', of(daemonSetStrategy)],
  ['apps/deployments', of(deploymentStrategy)],
  ['apps/replicasets', of(replicaSetStrategy)],
  ['apps/statefulsets', of(statefulSetStrategy)],
  ['autoscaling/horizontalpodautoscalers', of(horizontalPodAutoscalerStrategy)],
  ['batch/cronjobs', of(cronJobStrategy)],
  ['batch/jobs', of(jobStrategy)],
  ['certificates.k8s.io/certificatesigningrequests', of(certificateSigningRequestStrategy)],
  ['coordination.k8s.io/leases', of(leaseStrategy)],
  ['discovery.k8s.io/endpointslices', of(endpointSliceStrategy)],
  ['events.k8s.io/events', of(newEventStrategy)],
  ['flowcontrol.apiserver.k8s.io/flowschemas', of(flowSchemaStrategy)],
  ['flowcontrol.apiserver.k8s.io/prioritylevelconfigurations', of(priorityLevelConfigurationStrategy)],
  ['networking.k8s.io/ingressclasses', of(ingressClassStrategy)],
  ['networking.k8s.io/ingresses', of(ingressStrategy)],
  ['networking.k8s.io/ipaddresses', of(ipAddressStrategy)],
  ['networking.k8s.io/networkpolicies', of(networkPolicyStrategy)],
  ['networking.k8s.io/servicecidrs', of(serviceCidrStrategy)],
  ['node.k8s.io/runtimeclasses', of(runtimeClassStrategy)],
  ['policy/poddisruptionbudgets', of(podDisruptionBudgetStrategy)],
  ['rbac.authorization.k8s.io/clusterrolebindings', of(clusterRoleBindingStrategy)],
  ['rbac.authorization.k8s.io/clusterroles', of(clusterRoleStrategy)],
  ['rbac.authorization.k8s.io/rolebindings', of(roleBindingStrategy)],
  ['rbac.authorization.k8s.io/roles', of(roleStrategy)],
  ['resource.k8s.io/deviceclasses', of(deviceClassStrategy)],
  ['resource.k8s.io/resourceclaims', of(resourceClaimStrategy)],
  ['resource.k8s.io/resourceclaimtemplates', of(resourceClaimTemplateStrategy)],
  ['resource.k8s.io/resourceslices', of(resourceSliceStrategy)],
  ['scheduling.k8s.io/priorityclasses', of(priorityClassStrategy)],
  ['storage.k8s.io/csidrivers', of(csiDriverStrategy)],
  ['storage.k8s.io/csinodes', of(csiNodeStrategy)],
  ['storage.k8s.io/csistoragecapacities', of(csiStorageCapacityStrategy)],
  ['storage.k8s.io/storageclasses', of(storageClassStrategy)],
  ['storage.k8s.io/volumeattachments', of(volumeAttachmentStrategy)],
  ['storage.k8s.io/volumeattributesclasses', of(volumeAttributesClassStrategy)],
]);
