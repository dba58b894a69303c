import { IngressClasses } from '@tinkernetes/api';
import type { IngressClass } from '@tinkernetes/api';
import { invalid, required, tooLong } from '@tinkernetes/apimachinery';
import { age } from '../../../printers/cells';
import { defineStrategy } from '../../define-strategy';
import { fill, mapMember } from '../../fill';
import { immutable } from '../../immutable';
import { requireValue } from '../../rules';
import type { Errors } from '../../rules';

const maxControllerLength = 250;

function validate({ spec }: IngressClass): Errors {
  const controller = spec?.controller ?? '';
  const errors: Errors = [];
  const path = 'spec.controller';
  if (controller === '') errors.push(required(path));
  else if (controller.length > maxControllerLength) errors.push(tooLong(path, maxControllerLength));
  else if (!/^[^/]+\.[^/]+\/.+$/.test(controller)) {
    errors.push(invalid(path, controller, 'must be a domain-prefixed path (such as "acme.io/foo")'));
  }
  const parameters = spec?.parameters;
  return parameters
    ? [
        ...errors,
        ...requireValue('spec.parameters.kind', parameters.kind),
        ...requireValue('spec.parameters.name', parameters.name),
      ]
    : errors;
}

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
  validateUpdate: (object, old) =>
    immutable('spec.controller', object.spec?.controller, old.spec?.controller),
  tableCells: (object, now) => [
    object.metadata.name,
    object.spec?.controller ?? '',
    parametersText(object),
    age(object, now),
  ],
});
