import { ClusterRoleBindings, RoleBindings } from '@tinkernetes/api';
import type { ClusterRoleBinding, Subject, RoleBinding } from '@tinkernetes/api';
import {
  child,
  invalid,
  isDns1123Subdomain,
  isPathSegmentName,
  notSupported,
  required,
  semanticEqual,
} from '@tinkernetes/apimachinery';
import { age } from '../../../printers/cells';
import { defineStrategy } from '../../define-strategy';
import { fill, mapList, mapMember } from '../../fill';
import { check, eachOf } from '../../rules';
import type { Errors } from '../../rules';

const group = 'rbac.authorization.k8s.io';
type Binding = RoleBinding | ClusterRoleBinding;

function defaultBinding<B extends Binding>(binding: B): B {
  const referred = mapMember(binding, 'roleRef', (ref) =>
    ref.apiGroup ? ref : ({ ...ref, apiGroup: group } as NonNullable<B['roleRef']>),
  );
  return mapMember(
    referred,
    'subjects',
    (subjects) =>
      mapList(subjects as Subject[], (subject) =>
        subject.kind === 'User' || subject.kind === 'Group' ? fill(subject, { apiGroup: group }) : subject,
      ) as B['subjects'],
  );
}

function validateSubject(subject: Subject, path: string, isNamespaced: boolean): Errors {
  const errors: Errors = [];
  const apiGroup = subject.apiGroup ?? '';
  if (!subject.name) errors.push(required(child(path, 'name')));
  switch (subject.kind) {
    case 'ServiceAccount':
      if (subject.name) errors.push(...check(child(path, 'name'), subject.name, isDns1123Subdomain));
      if (apiGroup !== '') errors.push(notSupported(child(path, 'apiGroup'), apiGroup, ['']));
      if (!isNamespaced && !subject.namespace) errors.push(required(child(path, 'namespace')));
      return errors;
    case 'User':
    case 'Group':
      return apiGroup === group
        ? errors
        : [...errors, notSupported(child(path, 'apiGroup'), apiGroup, [group])];
    default:
      return [
        ...errors,
        notSupported(child(path, 'kind'), subject.kind, ['ServiceAccount', 'User', 'Group']),
      ];
  }
}

function validate(binding: Binding, isNamespaced: boolean): Errors {
  const ref = binding.roleRef;
  const kinds = isNamespaced ? ['Role', 'ClusterRole'] : ['ClusterRole'];
  const errors: Errors = [];
  if (ref.apiGroup !== group) errors.push(notSupported('roleRef.apiGroup', ref.apiGroup, [group]));
  if (!kinds.includes(ref.kind)) errors.push(notSupported('roleRef.kind', ref.kind, kinds));
  if (!ref.name) errors.push(required('roleRef.name'));
  else errors.push(...check('roleRef.name', ref.name, isPathSegmentName));
  return [
    ...errors,
    ...eachOf('subjects', binding.subjects, (subject, at) => validateSubject(subject, at, isNamespaced)),
  ];
}

/** As the struct that upstream shows. */
const shown = ({ apiGroup, kind, name }: Binding['roleRef']): object => ({
  APIGroup: apiGroup,
  Kind: kind,
  Name: name,
});

const validateUpdate = (binding: Binding, old: Binding, isNamespaced: boolean): Errors => [
  ...validate(binding, isNamespaced),
  ...(semanticEqual(binding.roleRef, old.roleRef)
    ? []
    : [invalid('roleRef', shown(binding.roleRef), 'cannot change roleRef')]),
];

/** Name, Role, Age, Users, Groups, ServiceAccounts. */
function cells(binding: Binding, now: number): unknown[] {
  const named = (kind: string) => (binding.subjects ?? []).filter((subject) => subject.kind === kind);
  const accounts = named('ServiceAccount').map(({ namespace, name }) =>
    namespace ? `${namespace}/${name}` : name,
  );
  return [
    binding.metadata.name,
    `${binding.roleRef.kind}/${binding.roleRef.name}`,
    age(binding, now),
    named('User')
      .map((subject) => subject.name)
      .join(', '),
    named('Group')
      .map((subject) => subject.name)
      .join(', '),
    accounts.join(', '),
  ];
}

export const roleBindingStrategy = defineStrategy(RoleBindings, {
  allowCreateOnUpdate: true,
  nameCheck: isPathSegmentName,
  default: defaultBinding,
  validate: (binding) => validate(binding, true),
  validateUpdate: (binding, old) => validateUpdate(binding, old, true),
  tableCells: cells,
});

export const clusterRoleBindingStrategy = defineStrategy(ClusterRoleBindings, {
  allowCreateOnUpdate: true,
  nameCheck: isPathSegmentName,
  default: defaultBinding,
  validate: (binding) => validate(binding, false),
  validateUpdate: (binding, old) => validateUpdate(binding, old, false),
  tableCells: cells,
});
