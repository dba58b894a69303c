import { APIServices } from '@tinkernetes/api';
import type { APIService } from '@tinkernetes/api';
import { invalid, isConditionTrue, isPathSegmentName, required } from '@tinkernetes/apimachinery';
import { formatTime } from '@tinkernetes/component-base';
import { localVerdict, withVerdict } from '../../../aggregation/verdict';
import { age } from '../../../printers/cells';
import { defineStrategy } from '../../define-strategy';
import { fill, mapMember } from '../../fill';
import type { Errors } from '../../rules';

const maxGroupPriority = 20_000;
const maxVersionPriority = 1000;

function validate({ metadata, spec }: APIService): Errors {
  const errors: Errors = [];
  const expected = `${spec?.version ?? ''}.${spec?.group ?? ''}`;
  if (metadata.name !== expected) {
    const detail = 'must be `spec.version+"."+spec.group`';
    errors.push(invalid('metadata.name', metadata.name, detail));
  }
  if (!spec?.version) errors.push(required('spec.version'));
  const [group = 0, version = 0] = [spec?.groupPriorityMinimum, spec?.versionPriority];
  if (group <= 0 || group > maxGroupPriority) {
    errors.push(invalid('spec.groupPriorityMinimum', group, 'must be positive and less than 20000'));
  }
  if (version <= 0 || version > maxVersionPriority) {
    errors.push(invalid('spec.versionPriority', version, 'must be positive and less than 1000'));
  }
  const service = spec?.service;
  if (!service) return errors;
  if (!service.namespace) errors.push(required('spec.service.namespace'));
  if (!service.name) errors.push(required('spec.service.name'));
  if (spec?.insecureSkipTLSVerify && spec.caBundle) {
    errors.push(invalid('spec.insecureSkipTLSVerify', true, 'may not be true if caBundle is present'));
  }
  return errors;
}

function available({ spec, status }: APIService): string {
  if (isConditionTrue(status?.conditions, 'Available')) return 'True';
  const condition = status?.conditions?.find((c) => c.type === 'Available');
  if (!condition) return spec?.service ? 'Unknown' : 'True';
  return condition.reason ? `${condition.status} (${condition.reason})` : condition.status;
}

/** Source: k8s.io/kube-aggregator/pkg/registry/apiservice. */
export const apiServiceStrategy = defineStrategy(APIServices, {
  nameCheck: isPathSegmentName,
  hasGeneration: false,
  default: (object) =>
    mapMember(object, 'spec', (spec) =>
      mapMember(spec, 'service', (service) => fill(service, { port: 443 })),
    ),
  // What this server serves itself is available from the beginning.
  prepareForCreate: (object, { now }) => ({
    ...object,
    status: object.spec.service
      ? {}
      : withVerdict({ ...object, status: {} }, localVerdict, formatTime(now)).status,
  }),
  validate,
  tableCells: (object, now) => {
    const service = object.spec?.service;
    return [
      object.metadata.name,
      service ? `${service.namespace ?? ''}/${service.name ?? ''}` : 'Local',
      available(object),
      age(object, now),
    ];
  },
});
