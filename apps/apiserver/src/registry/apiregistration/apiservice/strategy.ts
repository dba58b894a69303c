import { APIServices } from '@tinkernetes/api';
import type { APIService } from '@tinkernetes/api';
import {
  invalid,
  isConditionTrue,
  isDns1035Label,
  isDns1123Subdomain,
  isPathSegmentName,
  isPortNumber,
  required,
} from '@tinkernetes/apimachinery';
import { formatTime } from '@tinkernetes/component-base';
import { localVerdict, withVerdict } from '../../../aggregation/verdict';
import { age } from '../../../printers/cells';
import { defineStrategy } from '../../define-strategy';
import { fill, mapMember } from '../../fill';
import { check } from '../../rules';
import type { Errors } from '../../rules';

const maxGroupPriority = 20_000;
const maxVersionPriority = 1000;

function validate({ metadata, spec }: APIService): Errors {
  const errors: Errors = [];
  const expected = `${spec?.version ?? ''}.${spec?.group ?? ''}`;
  if (metadata.name && metadata.name !== expected) {
    const detail = `must be \`spec.version+"."+spec.group\`: ${JSON.stringify(expected)}`;
    errors.push(invalid('metadata.name', metadata.name, detail));
  }
  if (spec?.group) errors.push(...check('spec.group', spec.group, isDns1123Subdomain));
  else if (spec?.version !== 'v1') {
    const detail = 'only v1 may have an empty group and it better be legacy kube';
    errors.push(required('spec.group', detail));
  }
  errors.push(...check('spec.version', spec?.version ?? '', isDns1035Label));
  const [group = 0, version = 0] = [spec?.groupPriorityMinimum, spec?.versionPriority];
  if (group <= 0 || group > maxGroupPriority) {
    errors.push(invalid('spec.groupPriorityMinimum', group, 'must be positive and less than 20000'));
  }
  if (version <= 0 || version > maxVersionPriority) {
    errors.push(invalid('spec.versionPriority', version, 'must be positive and less than 1000'));
  }
  const service = spec?.service;
  if (!service) {
    if (spec?.insecureSkipTLSVerify) {
      const detail = 'local APIServices may not have insecureSkipTLSVerify';
      errors.push(invalid('spec.insecureSkipTLSVerify', true, detail));
    }
    return errors;
  }
  if (!service.namespace) errors.push(required('spec.service.namespace'));
  if (!service.name) errors.push(required('spec.service.name'));
  errors.push(
    ...isPortNumber(service.port ?? 443).map((text) =>
      invalid('spec.service.port', service.port, `port is not valid: ${text}`),
    ),
  );
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
  keptByStatus: 'all',
  allowUnconditionalUpdate: false,
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
