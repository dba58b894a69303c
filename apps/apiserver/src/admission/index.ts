import { UsageError } from '@tinkernetes/component-base';
import { RuleResolver } from '../authorization';
import { escalationGuard } from '../authorization/escalation/escalation-guard';
import type { AdmissionPlugin, Authorizer, CreateAdmissionChain, ServerDependencies } from '../contracts';
import { alwaysAdmit, alwaysDeny } from './always';
import { alwaysPullImages } from './always-pull-images';
import { certificateApproval, certificateSigning, certificateSubjectRestriction } from './certificates';
import { defaultIngressClass } from './default-ingress-class';
import { defaultStorageClass } from './default-storage-class';
import { defaultTolerationSeconds } from './default-toleration-seconds';
import { denyServiceExternalIPs } from './deny-service-external-ips';
import { limitRanger } from './limit-ranger';
import { namespaceAutoProvision, namespaceExists } from './namespace-auto-provision';
import { namespaceLifecycle } from './namespace-lifecycle';
import { nodeRestrictionPlugin } from './node-restriction';
import { ownerReferencesDedup } from './owner-references-dedup';
import { ownerReferencesPermissionEnforcement } from './owner-references-permission-enforcement';
import { persistentVolumeClaimResize } from './persistent-volume-claim-resize';
import { mutatingAdmissionPolicy } from './policies/mutating-admission-policy';
import { validatingAdmissionPolicy } from './policies/validating-admission-policy';
import {
  extendedResourceToleration,
  limitPodHardAntiAffinityTopology,
  podNodeSelector,
  podTopologyLabels,
} from './pod-placement';
import { podTolerationRestriction } from './pod-toleration-restriction';
import { podSecurity } from './pod-security';
import { priority } from './priority';
import { resourceQuota } from './resource-quota';
import { runtimeClass } from './runtime-class';
import { serviceAccount } from './service-account';
import { storageObjectInUseProtection } from './storage-object-in-use-protection';
import { taintNodesByCondition } from './taint-nodes-by-condition';
import { mutatingWebhook } from './webhooks/mutating-webhook';
import { validatingWebhook } from './webhooks/validating-webhook';

/**
 * Upstream's names of what does nothing here: their feature gates are off in v1.36, or they guard kinds that are not
 * served. They may be named, as upstream accepts them.
 */
const withoutEffect: ReadonlySet<string> = new Set([
  'ClusterTrustBundleAttest',
  'JobValidation',
  'NodeDeclaredFeatureValidator',
  'PodGroupProtection',
  'PodGroupWorkloadExists',
  'PodResizeValidator',
]);

/** Upstream's, too, do not start without a file of `--admission-control-config-file`, which this server has not. */
const needConfiguration: ReadonlySet<string> = new Set(['EventRateLimit', 'ImagePolicyWebhook']);

type Dependencies = ServerDependencies & { authorizer: Authorizer };

interface Registration {
  readonly name: string;
  /** Whether it runs without `--enable-admission-plugins`. */
  readonly byDefault: boolean;
  create(deps: Dependencies): AdmissionPlugin;
}

const on = (name: string, create: Registration['create']): Registration => ({
  name,
  byDefault: true,
  create,
});

const off = (name: string, create: Registration['create']): Registration => ({
  name,
  byDefault: false,
  create,
});

/** All plugins in the order in which they run. Source: k8s.io/kubernetes/pkg/kubeapiserver/options.AllOrderedPlugins. */
export const plugins: readonly Registration[] = [
  off('AlwaysAdmit', () => alwaysAdmit),
  off('NamespaceAutoProvision', ({ stores }) => namespaceAutoProvision(stores)),
  on('NamespaceLifecycle', ({ stores }) => namespaceLifecycle(stores)),
  off('NamespaceExists', ({ stores }) => namespaceExists(stores)),
  off('LimitPodHardAntiAffinityTopology', () => limitPodHardAntiAffinityTopology),
  on('LimitRanger', ({ stores }) => limitRanger(stores)),
  on('ServiceAccount', ({ stores, context }) => serviceAccount(stores, context)),
  off('NodeRestriction', ({ stores }) => nodeRestrictionPlugin(stores)),
  on('TaintNodesByCondition', () => taintNodesByCondition),
  off('AlwaysPullImages', () => alwaysPullImages),
  on('PodSecurity', ({ stores }) => podSecurity(stores)),
  off('PodNodeSelector', ({ stores }) => podNodeSelector(stores)),
  on('Priority', ({ stores }) => priority(stores)),
  on('DefaultTolerationSeconds', () => defaultTolerationSeconds),
  off('PodTolerationRestriction', ({ stores }) => podTolerationRestriction(stores)),
  off('ExtendedResourceToleration', () => extendedResourceToleration),
  on('DefaultStorageClass', ({ stores }) => defaultStorageClass(stores)),
  on('StorageObjectInUseProtection', () => storageObjectInUseProtection),
  off('OwnerReferencesPermissionEnforcement', ({ stores, authorizer }) =>
    ownerReferencesPermissionEnforcement(stores, authorizer),
  ),
  on('PersistentVolumeClaimResize', ({ stores }) => persistentVolumeClaimResize(stores)),
  on('RuntimeClass', ({ stores }) => runtimeClass(stores)),
  on('CertificateApproval', ({ authorizer }) => certificateApproval(authorizer)),
  on('CertificateSigning', ({ authorizer }) => certificateSigning(authorizer)),
  on('CertificateSubjectRestriction', () => certificateSubjectRestriction),
  on('DefaultIngressClass', ({ stores }) => defaultIngressClass(stores)),
  off('DenyServiceExternalIPs', () => denyServiceExternalIPs),
  on('PodTopologyLabels', ({ stores }) => podTopologyLabels(stores)),
  on('MutatingAdmissionPolicy', ({ stores, authorizer }) => mutatingAdmissionPolicy(stores, authorizer)),
  on('MutatingAdmissionWebhook', (deps) => mutatingWebhook(deps)),
  on('ValidatingAdmissionPolicy', ({ stores, authorizer }) => validatingAdmissionPolicy(stores, authorizer)),
  on('ValidatingAdmissionWebhook', (deps) => validatingWebhook(deps)),
  on('ResourceQuota', ({ stores }) => resourceQuota(stores)),
  off('AlwaysDeny', () => alwaysDeny),
];

const isKnown = (name: string): boolean =>
  withoutEffect.has(name) || needConfiguration.has(name) || plugins.some((plugin) => plugin.name === name);

/** Source: k8s.io/apiserver/pkg/server/options.AdmissionOptions.Validate. */
function checkNames(enabled: readonly string[], disabled: readonly string[]): void {
  const unknown = [...enabled, ...disabled].find((name) => !isKnown(name));
  if (unknown !== undefined) {
    const flag = enabled.includes(unknown) ? 'enable-admission-plugins' : 'disable-admission-plugins';
    throw new UsageError(`${flag} plugin ${JSON.stringify(unknown)} is unknown`);
  }
  const both = enabled.filter((name) => disabled.includes(name));
  if (both.length > 0) {
    throw new UsageError(
      `${both.join(', ')} in enable-admission-plugins and disable-admission-plugins overlapped`,
    );
  }
  const missing = enabled.find((name) => needConfiguration.has(name));
  if (missing !== undefined) {
    throw new UsageError(
      `--enable-admission-plugins=${missing}: this plugin needs a configuration file, and is not implemented`,
    );
  }
}

/** The plugins that are on by default or by flag, less those that are switched off. */
export const createAdmissionChain: CreateAdmissionChain = (deps) => {
  const { enableAdmissionPlugins: enabled, disableAdmissionPlugins: disabled } = deps.options;
  checkNames(enabled, disabled);
  const chain = [
    ownerReferencesDedup,
    ...plugins
      .filter(({ name, byDefault }) => (byDefault || enabled.includes(name)) && !disabled.includes(name))
      .map((plugin) => plugin.create(deps)),
  ];
  if (!deps.options.authorizationModes.includes('RBAC')) return chain;
  return [escalationGuard(new RuleResolver(deps.stores), deps.authorizer), ...chain];
};
