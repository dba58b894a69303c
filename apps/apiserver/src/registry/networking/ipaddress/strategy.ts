import { IPAddresses } from '@tinkernetes/api';
import type { IPAddress } from '@tinkernetes/api';
import { isDns1123Subdomain, isPathSegmentName, isCanonicalIp, required } from '@tinkernetes/apimachinery';
import { age } from '../../../printers/cells';
import { defineStrategy } from '../../define-strategy';
import { immutable } from '../../immutable';
import { check, requireName } from '../../rules';
import type { Errors } from '../../rules';

function validate({ spec }: IPAddress): Errors {
  const parent = spec?.parentRef;
  if (!parent) return [required('spec.parentRef')];
  return [
    ...(parent.group ? check('spec.parentRef.group', parent.group, isDns1123Subdomain) : []),
    ...requireName('spec.parentRef.resource', parent.resource, isPathSegmentName),
    ...(parent.namespace ? check('spec.parentRef.namespace', parent.namespace, isPathSegmentName) : []),
    ...requireName('spec.parentRef.name', parent.name, isPathSegmentName),
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
  nameCheck: isCanonicalIp,
  validate,
  validateUpdate: (address, old) => [
    ...validate(address),
    ...immutable('spec.parentRef', address.spec?.parentRef, old.spec?.parentRef, 'ParentReference'),
  ],
  tableCells: (address, now) => [address.metadata.name, parentText(address), age(address, now)],
});
