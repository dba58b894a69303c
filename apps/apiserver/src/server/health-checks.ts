import type { Storage } from '@tinkernetes/storage';
import type { ApiServerOptions } from '../options';
import type { HealthCheck } from './health';

const always = (): void => undefined;

/**
 * What is done before the first request can come in, under the names of upstream's start hooks: clients wait for single
 * ones of them.
 */
const startSteps: readonly string[] = [
  'start-apiserver-admission-initializer',
  'generic-apiserver-start-informers',
  'start-apiextensions-informers',
  'start-apiextensions-controllers',
  'crd-informer-synced',
  'start-system-namespaces-controller',
  'start-cluster-authentication-info-controller',
  'storage-readiness',
  'rbac/bootstrap-roles',
  'scheduling/bootstrap-system-priority-classes',
  'bootstrap-controller',
  'start-kubernetes-service-cidr-controller',
  'start-kube-aggregator-informers',
  'apiservice-status-local-available-controller',
  'apiservice-status-remote-available-controller',
  'apiservice-registration-controller',
  'apiservice-discovery-controller',
  'kube-apiserver-autoregistration',
];
const flowControlSteps: readonly string[] = [
  'priority-and-fairness-config-consumer',
  'priority-and-fairness-filter',
  'priority-and-fairness-config-producer',
];
const openApiSteps: readonly string[] = ['apiservice-openapi-controller', 'apiservice-openapiv3-controller'];

/** `stopping`: aborted when the server stops, from when on it is not ready. */
export function createHealthChecks(
  { priorityAndFairness }: Pick<ApiServerOptions, 'priorityAndFairness'>,
  storage: Storage,
  stopping: AbortSignal,
): readonly HealthCheck[] {
  const storageAnswers = async () => void (await storage.currentRevision());
  const started = (names: readonly string[]): HealthCheck[] =>
    names.map((name) => ({ name: `poststarthook/${name}`, check: always }));
  return [
    { name: 'ping', check: always },
    { name: 'log', check: always },
    { name: 'etcd', check: storageAnswers },
    { name: 'etcd-readiness', check: storageAnswers, only: 'ready' },
    { name: 'informer-sync', check: always, only: 'ready' },
    ...started(startSteps),
    ...started(priorityAndFairness ? flowControlSteps : []),
    { name: 'autoregister-completion', check: always },
    ...started(openApiSteps),
    { name: 'shutdown', check: () => stopping.throwIfAborted(), only: 'ready' },
  ];
}
