import { Services } from '@tinkernetes/api';
import { isDns1123Label } from '@tinkernetes/apimachinery';
import { serviceCells } from '../../../printers/services';
import { defineStrategy } from '../../define-strategy';
import { defaultService } from './defaults';
import { prepareServiceUpdate, settleFamilies, syncClusterIps } from './prepare';
import { validateService, validateServiceUpdate } from './validate';

/** Source: k8s.io/kubernetes/pkg/registry/core/service. */
export const serviceStrategy = defineStrategy(Services, {
  allowCreateOnUpdate: true,
  nameCheck: isDns1123Label,
  hasGeneration: false,
  default: defaultService,
  prepareForCreate: (service) => ({
    ...service,
    spec: settleFamilies(syncClusterIps(service.spec ?? {})),
    status: { loadBalancer: {} },
  }),
  prepareForUpdate: prepareServiceUpdate,
  validate: validateService,
  warnings: ({ spec }) => [
    ...(spec?.externalIPs?.length
      ? ['spec.externalIPs is deprecated and may no longer be implemented in some clusters']
      : []),
    ...(spec?.trafficDistribution === 'PreferClose'
      ? ['spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"']
      : []),
  ],
  validateUpdate: validateServiceUpdate,
  returnDeletedObject: true,
  selectableFieldNames: ['spec.clusterIP', 'spec.type'],
  selectableFields: ({ spec }) => ({
    'spec.clusterIP': spec?.clusterIP ?? '',
    'spec.type': spec?.type ?? '',
  }),
  tableCells: serviceCells,
});
