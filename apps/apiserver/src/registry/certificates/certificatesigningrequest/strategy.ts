import { CertificateSigningRequests } from '@tinkernetes/api';
import type { CertificateSigningRequest } from '@tinkernetes/api';
import { required } from '@tinkernetes/apimachinery';
import { age } from '../../../printers/cells';
import { defineStrategy } from '../../define-strategy';
import type { Errors } from '../../rules';

function validate({ spec }: CertificateSigningRequest): Errors {
  return [
    ...(spec.request ? [] : [required('spec.request')]),
    ...(spec.signerName ? [] : [required('spec.signerName')]),
    ...(spec.usages && spec.usages.length > 0 ? [] : [required('spec.usages')]),
  ];
}

function condition({ status }: CertificateSigningRequest): string {
  const types = new Set(status?.conditions?.map((c) => c.type));
  const decided = ['Approved', 'Denied', 'Failed'].filter((type) => types.has(type));
  const shown = decided.length > 0 ? decided : ['Pending'];
  return [...shown, ...(status?.certificate ? ['Issued'] : [])].join(',');
}

/** A request carries who asked for it, as the server authenticated them. Source: pkg/registry/certificates/certificates. */
export const certificateSigningRequestStrategy = defineStrategy(CertificateSigningRequests, {
  prepareForCreate: (csr, { user }) => ({
    ...csr,
    spec: {
      ...csr.spec,
      username: user.name,
      uid: user.uid,
      groups: [...user.groups],
      extra: user.extra
        ? Object.fromEntries(Object.entries(user.extra).map(([key, values]) => [key, [...values]]))
        : undefined,
    },
    status: {},
  }),
  prepareForUpdate: (csr, old) => ({ ...csr, spec: old.spec, status: old.status }),
  prepareForStatusUpdate: (csr, old) => ({
    ...csr,
    spec: old.spec,
    // Approval and denial have a subresource, and a right, of their own.
    status: {
      ...csr.status,
      conditions: [
        ...(old.status?.conditions ?? []).filter((c) => c.type === 'Approved' || c.type === 'Denied'),
        ...(csr.status?.conditions ?? []).filter((c) => c.type !== 'Approved' && c.type !== 'Denied'),
      ],
    },
  }),
  validate,
  selectableFieldNames: ['spec.signerName'],
  selectableFields: ({ spec }) => ({ 'spec.signerName': spec.signerName }),
  tableCells: (csr, now) => [
    csr.metadata.name,
    age(csr, now),
    csr.spec.signerName,
    csr.spec.username,
    csr.spec.expirationSeconds ? `${csr.spec.expirationSeconds}s` : '<none>',
    condition(csr),
  ],
});
