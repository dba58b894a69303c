import { CertificateSigningRequests } from '@tinkernetes/api';
import type { CertificateSigningRequest } from '@tinkernetes/api';
import { invalid, required } from '@tinkernetes/apimachinery';
import { formatTime } from '@tinkernetes/component-base';
import { age } from '../../../printers/cells';
import { humanDuration } from '../../../printers/duration';
import { defineStrategy } from '../../define-strategy';
import type { Errors } from '../../rules';

const minSeconds = 600;
const usages = [
  'any',
  'cert sign',
  'client auth',
  'code signing',
  'content commitment',
  'crl sign',
  'data encipherment',
  'decipher only',
  'digital signature',
  'email protection',
  'encipher only',
  'ipsec end system',
  'ipsec tunnel',
  'ipsec user',
  'key agreement',
  'key encipherment',
  'microsoft sgc',
  'netscape sgc',
  'ocsp signing',
  's/mime',
  'server auth',
  'signing',
  'timestamping',
];

function validate({ spec }: CertificateSigningRequest): Errors {
  const errors: Errors = [];
  const pem = Buffer.from(spec?.request ?? '', 'base64').toString();
  if (!/-----BEGIN (NEW )?CERTIFICATE REQUEST-----/.test(pem)) {
    errors.push(invalid('spec.request', spec?.request ?? '', 'PEM block type must be CERTIFICATE REQUEST'));
  }
  if (!spec?.usages?.length) errors.push(required('spec.usages'));
  for (const [i, usage] of (spec?.usages ?? []).entries()) {
    if (!usages.includes(usage)) {
      const list = usages.map((name) => `"${name}"`).join(', ');
      errors.push({
        reason: 'FieldValueNotSupported',
        field: `spec.usages[${i}]`,
        message: `Unsupported value: "${usage}": supported values: ${list}`,
      });
    }
  }
  const signer = spec?.signerName ?? '';
  if (signer === '') errors.push(required('spec.signerName'));
  else if (!/^[^/]+\.[^/]+\/.+$/.test(signer)) {
    errors.push(
      invalid(
        'spec.signerName',
        signer,
        'must be a fully qualified domain and path of the form "example.com/signer-name"',
      ),
    );
  }
  const seconds = spec?.expirationSeconds;
  if (seconds !== undefined && seconds < minSeconds) {
    errors.push(
      invalid(
        'spec.expirationSeconds',
        seconds,
        'may not specify a duration less than 600 seconds (10 minutes)',
      ),
    );
  }
  return errors;
}

/** Each condition says since when it holds. */
function stampConditions(request: CertificateSigningRequest, now: number): CertificateSigningRequest {
  const conditions = request.status?.conditions?.map((condition) => ({
    ...condition,
    lastTransitionTime: condition.lastTransitionTime ?? formatTime(now),
    lastUpdateTime: condition.lastUpdateTime ?? formatTime(now),
  }));
  return conditions ? { ...request, status: { ...request.status, conditions } } : request;
}

/** Approval and denial have a subresource, and a right, of their own. */
function withDecisionsOf(old: CertificateSigningRequest, request: CertificateSigningRequest) {
  const isDecision = ({ type }: { type: string }) => type === 'Approved' || type === 'Denied';
  const own = (request.status?.conditions ?? []).filter((condition) => !isDecision(condition));
  const conditions = [...(old.status?.conditions ?? []).filter(isDecision), ...own];
  return conditions.length > 0 ? conditions : undefined;
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
  prepareForStatusUpdate: (request, old, { now }) =>
    stampConditions(
      { ...request, status: { ...request.status, conditions: withDecisionsOf(old, request) } },
      now,
    ),
  subresources: {
    approval: {
      prepareForUpdate: (request, old, { now }) => {
        const conditions = request.status?.conditions;
        const decided = { ...old, metadata: request.metadata, status: { ...old.status, conditions } };
        return stampConditions(decided, now);
      },
    },
  },
  validate,
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
