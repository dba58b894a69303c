import { IPAddresses } from '@tinkernetes/api';
import type { IPAddress } from '@tinkernetes/api';
import { canonicalIp, isValidIp, required } from '@tinkernetes/apimachinery';
import { defineStrategy } from '../../define-strategy';
import { immutable } from '../../immutable';
import { requireValue } from '../../rules';
import type { Errors } from '../../rules';

function validate({ spec }: IPAddress): Errors {
  const parent = spec?.parentRef;
  if (!parent) return [required('spec.parentRef')];
  return [
    ...requireValue('spec.parentRef.resource', parent.resource),
    ...requireValue('spec.parentRef.name', parent.name),
  ];
}

/** `services.group/namespace/name`; the group only where there is one. */
function parentText({ spec }: IPAddress): string {
  const parent = spec?.parentRef;
  if (!parent) return '<none>';
  const resource = parent.group ? `${parent.resource}.${parent.group}` : parent.resource;
  return [resource, parent.namespace, parent.name].filter(Boolean).join('/');
}

/** Source: k8s.io/kubernetes/pkg/registry/networking/ipaddress. */
export const ipAddressStrategy = defineStrategy(IPAddresses, {
  nameCheck: (name) => {
    if (isValidIp(name).length > 0) return ['must be a valid IP address in canonical form'];
    return canonicalIp(name) === name ? [] : ['must be a valid IP address in canonical form'];
  },
  validate,
  validateUpdate: (address, old) => immutable('spec.parentRef', address.spec?.parentRef, old.spec?.parentRef),
  selectableFieldNames: ['spec.parentRef.resource', 'spec.parentRef.namespace', 'spec.parentRef.name'],
  selectableFields: ({ spec }) => ({
    'spec.parentRef.resource': spec?.parentRef?.resource ?? '',
    'spec.parentRef.namespace': spec?.parentRef?.namespace ?? '',
    'spec.parentRef.name': spec?.parentRef?.name ?? '',
  }),
  tableCells: (address) => [address.metadata.name, parentText(address)],
});
