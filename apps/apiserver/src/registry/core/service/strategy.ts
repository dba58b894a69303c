import { Services } from '@tinkernetes/api';
import { forbidden, isDns1123Label } from '@tinkernetes/apimachinery';
import { serviceCells } from '../../../printers/services';
import { defineStrategy } from '../../define-strategy';
import { validateIngressPoints } from '../../load-balancer-status';
import { defaultService } from './defaults';
import { prepareServiceUpdate, syncClusterIps } from './prepare';
import { validateService, validateServiceUpdate } from './validate';
import { serviceWarnings } from './warnings';

/** Source: k8s.io/kubernetes/pkg/registry/core/service. */
export const serviceStrategy = defineStrategy(Services, {
  allowCreateOnUpdate: true,
  nameCheck: isDns1123Label,
  hasGeneration: false,
  default: defaultService,
  prepareForCreate: (service) => ({
    ...service,
    spec: syncClusterIps(service.spec ?? {}),
    status: { loadBalancer: {} },
  }),
  prepareForUpdate: prepareServiceUpdate,
  validate: validateService,
  warnings: serviceWarnings,
  validateUpdate: validateServiceUpdate,
  validateStatusUpdate: ({ spec, status }) =>
    spec?.type !== 'LoadBalancer' && status?.loadBalancer?.ingress?.length
      ? [forbidden('status.loadBalancer.ingress', "may only be used when `spec.type` is 'LoadBalancer'")]
      : validateIngressPoints(status?.loadBalancer?.ingress),
  returnDeletedObject: true,
  selectableFieldNames: ['spec.clusterIP', 'spec.type'],
  selectableFields: ({ spec }) => ({
    'spec.clusterIP': spec?.clusterIP ?? '',
    'spec.type': spec?.type ?? '',
  }),
  tableCells: serviceCells,
});
