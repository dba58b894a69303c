import { APIServices, ClusterRoles, type APIService, type ClusterRole } from '@tinkernetes/api';
import type { Logger } from '@tinkernetes/component-base';
import { createUnlessThere } from '../bootstrap/bootstrap-objects';
import type { ResourceTable } from '../registry/generic/resource-table';
import { group, version } from './metrics-objects';
import { metricsResources } from './served-resources';

const localService: APIService = {
  metadata: { name: `${version}.${group}` },
  spec: { group, version, groupPriorityMinimum: 100, versionPriority: 100 },
};

/** Whoever may view a namespace may see what its Pods use. Source: the metrics server's own manifest. */
const readerRole: ClusterRole = {
  metadata: {
    name: 'system:aggregated-metrics-reader',
    labels: {
      'rbac.authorization.k8s.io/aggregate-to-admin': 'true',
      'rbac.authorization.k8s.io/aggregate-to-edit': 'true',
      'rbac.authorization.k8s.io/aggregate-to-view': 'true',
    },
  },
  rules: [{ apiGroups: [group], resources: ['pods', 'nodes'], verbs: ['get', 'list', 'watch'] }],
};

/**
 * Serves the metrics API as a Local APIService. One that names a Service (a real metrics server) takes its place for as
 * long as it is there.
 */
export async function installMetricsApi(table: ResourceTable, logger: Logger): Promise<void> {
  for (const resource of metricsResources()) table.add(resource);
  const services = table.for(APIServices);
  await Promise.all([
    createUnlessThere(services, localService),
    createUnlessThere(table.for(ClusterRoles), readerRole),
  ]);
  services.onChange(({ type, object }) => {
    if (type !== 'DELETED' || object.metadata.name !== localService.metadata.name) return;
    createUnlessThere(services, localService).catch((error: unknown) =>
      logger.error({ err: error }, 'could not serve the metrics API again'),
    );
  });
}
