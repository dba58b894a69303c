import { IngressClasses } from '@tinkernetes/api';
import type { IngressClass } from '@tinkernetes/api';
import {
  forbidden,
  isDns1123Label,
  isDns1123Subdomain,
  isPathSegmentName,
  required,
  tooLong,
} from '@tinkernetes/apimachinery';
import { age } from '../../../printers/cells';
import { defineStrategy } from '../../define-strategy';
import { fill, mapMember } from '../../fill';
import { immutable } from '../../immutable';
import { check, oneOf, requireName, validateDomainPrefixedPath } from '../../rules';
import type { Errors } from '../../rules';

const maxControllerLength = 250;

function validate({ spec }: IngressClass): Errors {
  const controller = spec?.controller ?? '';
  const errors: Errors = [];
  const path = 'spec.controller';
  if (controller.length > maxControllerLength) errors.push(tooLong(path, maxControllerLength));
  errors.push(...validateDomainPrefixedPath(path, controller));
  const parameters = spec?.parameters;
  return parameters ? [...errors, ...validateParameters(parameters)] : errors;
}

type Parameters = NonNullable<NonNullable<IngressClass['spec']>['parameters']>;

/** Source: networking/validation.validateIngressClassParametersReference. */
function validateParameters({ apiGroup, kind, name, scope, namespace }: Parameters): Errors {
  const path = 'spec.parameters';
  const errors: Errors = [
    ...(apiGroup === undefined || apiGroup === null
      ? []
      : check(`${path}.apiGroup`, apiGroup, isDns1123Subdomain)),
    ...requireName(`${path}.kind`, kind, isPathSegmentName),
    ...requireName(`${path}.name`, name, isPathSegmentName),
    ...((scope ?? undefined) === undefined
      ? [required(`${path}.scope`)]
      : oneOf(`${path}.scope`, scope, ['Cluster', 'Namespace'])),
  ];
  const at = `${path}.namespace`;
  if (scope === 'Namespace') {
    if (namespace === undefined) errors.push(required(at, "`parameters.scope` is set to 'Namespace'"));
    else errors.push(...check(at, namespace, isDns1123Label));
  }
  if (scope === 'Cluster' && namespace !== undefined)
    errors.push(forbidden(at, "`parameters.scope` is set to 'Cluster'"));
  return errors;
}

const isDefault = ({ metadata }: IngressClass): boolean =>
  metadata.annotations?.['ingressclass.kubernetes.io/is-default-class'] === 'true';

/** `Kind.group/name` */
function parametersText({ spec }: IngressClass): string {
  const parameters = spec?.parameters;
  if (!parameters) return '<none>';
  const group = parameters.apiGroup ? `.${parameters.apiGroup}` : '';
  return `${parameters.kind}${group}/${parameters.name}`;
}

/** Source: k8s.io/kubernetes/pkg/registry/networking/ingressclass. */
export const ingressClassStrategy = defineStrategy(IngressClasses, {
  hasGeneration: true,
  default: (object) =>
    mapMember(object, 'spec', (spec) =>
      mapMember(spec, 'parameters', (parameters) => fill(parameters, { scope: 'Cluster' })),
    ),
  validate,
  validateUpdate: (object, old) => [
    ...immutable('spec.controller', object.spec?.controller ?? '', old.spec?.controller ?? ''),
    ...validate(object),
  ],
  tableCells: (object, now) => [
    isDefault(object) ? `${object.metadata.name} (default)` : object.metadata.name,
    object.spec?.controller ?? '',
    parametersText(object),
    age(object, now),
  ],
});
