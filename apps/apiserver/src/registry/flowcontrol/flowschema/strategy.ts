import { FlowSchemas } from '@tinkernetes/api';
import type { FlowSchema } from '@tinkernetes/api';
import { child, invalid, isDns1123Subdomain, notSupported, required } from '@tinkernetes/apimachinery';
import { age } from '../../../printers/cells';
import { defineStrategy } from '../../define-strategy';
import { validateConditions } from '../conditions';
import { mapMember } from '../../fill';
import { check, eachOf } from '../../rules';
import type { Errors } from '../../rules';
import { validateNonResourceRule, validateResourceRule, validateSubject } from './validate-rules';

const defaultPrecedence = 1000;
const maxPrecedence = 10_000;
const exemptPrecedence = 1;

function validate({ metadata, spec }: FlowSchema): Errors {
  const precedence = spec?.matchingPrecedence ?? 0;
  const errors: Errors = [];
  if (precedence <= 0)
    errors.push(invalid('spec.matchingPrecedence', precedence, 'must be a positive value'));
  if (precedence > maxPrecedence) {
    errors.push(invalid('spec.matchingPrecedence', precedence, `must not be greater than ${maxPrecedence}`));
  }
  if (precedence === exemptPrecedence && metadata.name !== 'exempt') {
    const detail = "only the schema named 'exempt' may have matchingPrecedence 1";
    errors.push(invalid('spec.matchingPrecedence', precedence, detail));
  }
  if (spec?.distinguisherMethod) {
    const { type = '' }: { type?: string } = spec.distinguisherMethod;
    if (!['ByNamespace', 'ByUser'].includes(type)) {
      const path = 'spec.distinguisherMethod.type';
      errors.push(notSupported(path, { Type: type }, ['ByNamespace', 'ByUser']));
    }
  }
  if (!spec?.priorityLevelConfiguration?.name) {
    errors.push(required('spec.priorityLevelConfiguration.name', 'must reference a priority level'));
  } else {
    const { name } = spec.priorityLevelConfiguration;
    errors.push(...check('spec.priorityLevelConfiguration.name', name, isDns1123Subdomain));
  }
  return [
    ...errors,
    ...eachOf('spec.rules', spec?.rules, (rule, at) => [
      ...(rule.subjects?.length
        ? []
        : [required(child(at, 'subjects'), 'subjects must contain at least one value')]),
      ...eachOf(child(at, 'subjects'), rule.subjects, validateSubject),
      ...(rule.resourceRules?.length || rule.nonResourceRules?.length
        ? []
        : [required(at, 'at least one of resourceRules and nonResourceRules has to be non-empty')]),
      ...eachOf(child(at, 'resourceRules'), rule.resourceRules, validateResourceRule),
      ...eachOf(child(at, 'nonResourceRules'), rule.nonResourceRules, validateNonResourceRule),
    ]),
  ];
}

/** Source: k8s.io/kubernetes/pkg/registry/flowcontrol/flowschema. */
export const flowSchemaStrategy = defineStrategy(FlowSchemas, {
  keptByStatus: 'all',
  default: (schema) =>
    mapMember(schema, 'spec', (spec) =>
      spec.matchingPrecedence ? spec : { ...spec, matchingPrecedence: defaultPrecedence },
    ),
  validateStatusUpdate: ({ status }) => validateConditions(status?.conditions),
  validate,
  tableCells: (schema, now) => {
    const { spec, status, metadata } = schema;
    const dangling = status?.conditions?.find((condition) => condition.type === 'Dangling');
    return [
      metadata.name,
      spec?.priorityLevelConfiguration?.name ?? '',
      spec?.matchingPrecedence ?? 0,
      spec?.distinguisherMethod?.type ?? '<none>',
      age(schema, now),
      dangling?.status ?? '?',
    ];
  },
});
