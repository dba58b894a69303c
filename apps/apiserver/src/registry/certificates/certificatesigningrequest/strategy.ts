import { CertificateSigningRequests } from '@tinkernetes/api';
import type { CertificateSigningRequest } from '@tinkernetes/api';
import { formatTime } from '@tinkernetes/component-base';
import { age } from '../../../printers/cells';
import { humanDuration } from '../../../printers/duration';
import { defineStrategy } from '../../define-strategy';
import { validateChange, validateRequest } from './validate';

/** Each condition says since when it holds. Source: pkg/registry/certificates/certificates.populateConditionTimestamps. */
function stampConditions(
  request: CertificateSigningRequest,
  old: CertificateSigningRequest,
  now: number,
): CertificateSigningRequest {
  const since = (type: string, status: string) =>
    old.status?.conditions?.find((before) => before.type === type && before.status === status)
      ?.lastTransitionTime ?? formatTime(now);
  const conditions = request.status?.conditions?.map((condition) => ({
    ...condition,
    lastTransitionTime: condition.lastTransitionTime ?? since(condition.type, condition.status),
    lastUpdateTime: condition.lastUpdateTime ?? formatTime(now),
  }));
  return conditions ? { ...request, status: { ...request.status, conditions } } : request;
}

/** `Approved,Issued`, as kubectl shows it. */
function state({ status }: CertificateSigningRequest): string {
  const has = (type: string) => status?.conditions?.some((condition) => condition.type === type) ?? false;
  const decision = has('Denied') ? 'Denied' : has('Approved') ? 'Approved' : 'Pending';
  return [decision, ...(has('Failed') ? ['Failed'] : []), ...(status?.certificate ? ['Issued'] : [])].join(
    ',',
  );
}

/** Who asks is what the server knows, not what the request says. Source: pkg/registry/certificates/certificates. */
export const certificateSigningRequestStrategy = defineStrategy(CertificateSigningRequests, {
  nameCheck: () => [],
  hasGeneration: false,
  prepareForCreate: (request, { user }) => {
    const { username: _username, uid: _uid, groups: _groups, extra: _extra, ...spec } = request.spec;
    const extra = Object.fromEntries(
      Object.entries(user.extra ?? {}).map(([key, values]) => [key, [...values]]),
    );
    return {
      ...request,
      spec: {
        ...spec,
        username: user.name,
        ...(user.uid ? { uid: user.uid } : {}),
        groups: [...user.groups],
        ...(Object.keys(extra).length > 0 ? { extra } : {}),
      },
      status: {},
    };
  },
  prepareForUpdate: (request, old) => ({ ...request, spec: old.spec }),
  prepareForStatusUpdate: (request, old, { now }) => stampConditions(request, old, now),
  subresources: {
    approval: {
      prepareForUpdate: (request, old, { now }) => {
        const conditions = request.status?.conditions;
        const decided = { ...old, metadata: request.metadata, status: { ...old.status, conditions } };
        return stampConditions(decided, old, now);
      },
      validateUpdate: validateChange({ decision: true }),
    },
  },
  validate: validateRequest,
  validateUpdate: validateChange({}),
  validateStatusUpdate: validateChange({ certificate: true }),
  selectableFieldNames: ['spec.signerName'],
  selectableFields: ({ spec }) => ({ 'spec.signerName': spec?.signerName ?? '' }),
  tableCells: (request, now) => [
    request.metadata.name,
    age(request, now),
    request.spec?.signerName || '<none>',
    request.spec?.username ?? '',
    request.spec?.expirationSeconds === undefined
      ? '<none>'
      : humanDuration(request.spec.expirationSeconds * 1000),
    state(request),
  ],
});
