import type { CertificateSigningRequest } from '@tinkernetes/api';
import {
  child,
  duplicate,
  forbidden,
  invalid,
  isDns1123Label,
  isDns1123Subdomain,
  notSupported,
  required,
  semanticEqual,
} from '@tinkernetes/apimachinery';
import { eachOf, requireOneOf } from '../../rules';
import type { Errors } from '../../rules';

type Conditions = NonNullable<NonNullable<CertificateSigningRequest['status']>['conditions']>;

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

/** Source: pkg/apis/certificates/validation.validateCertificateSigningRequest. */
export function validateRequest({ spec, status }: CertificateSigningRequest): Errors {
  const errors: Errors = [];
  const pem = Buffer.from(spec?.request ?? '', 'base64').toString();
  if (!/-----BEGIN (NEW )?CERTIFICATE REQUEST-----/.test(pem)) {
    errors.push(invalid('spec.request', spec?.request ?? '', 'PEM block type must be CERTIFICATE REQUEST'));
  }
  if (!spec?.usages?.length) errors.push(required('spec.usages'));
  const seen = new Set<string>();
  errors.push(
    ...eachOf('spec.usages', spec?.usages, (usage, at) => {
      if (!usages.includes(usage)) return [notSupported(at, usage, usages)];
      if (seen.has(usage)) return [duplicate(at, usage)];
      seen.add(usage);
      return [];
    }),
  );
  errors.push(...validateSignerName(spec?.signerName ?? '', 'spec.signerName'));
  const seconds = spec?.expirationSeconds;
  if (seconds !== undefined && seconds < minSeconds) {
    const detail = 'may not specify a duration less than 600 seconds (10 minutes)';
    errors.push(invalid('spec.expirationSeconds', seconds, detail));
  }
  return [...errors, ...validateConditions(status?.conditions ?? [])];
}

const legacySigner = 'kubernetes.io/legacy-unknown';

/** Source: pkg/apis/certificates/validation.ValidateCertificateSigningRequestSignerName. */
function validateSignerName(name: string, path: string): Errors {
  if (name === '') return [required(path)];
  if (name === legacySigner)
    return [invalid(path, name, 'the legacy signerName is not allowed via this API version')];
  const [domain = '', signer, ...more] = name.split('/');
  if (signer === undefined || more.length > 0) {
    const form = "must be a fully qualified domain and path of the form 'example.com/signer-name'";
    return [invalid(path, name, form)];
  }
  const labels = domain.split('.');
  const isShort = labels.length < 2;
  return [
    ...(isShort
      ? [invalid(path, domain, 'should be a domain with at least two segments separated by dots')]
      : []),
    ...labelErrors(domain, isDns1123Label, path),
    ...labelErrors(signer, isDns1123Subdomain, path),
  ];
}

const labelErrors = (segment: string, rule: typeof isDns1123Label, path: string): Errors =>
  segment
    .split('.')
    .flatMap((label) =>
      rule(label).map((text) => invalid(path, segment, `validating label "${label}": ${text}`)),
    );

const decisions = ['Approved', 'Denied'];
/** They hold, or they are not there. */
const onlyTrue = new Set([...decisions, 'Failed']);

function validateConditions(conditions: Conditions): Errors {
  const seen = new Set<string>();
  return eachOf('status.conditions', conditions, ({ type, status }, at) => {
    const errors: Errors = [];
    if (!type) errors.push(required(child(at, 'type')));
    const supported = onlyTrue.has(type) ? ['True'] : ['False', 'True', 'Unknown'];
    errors.push(...requireOneOf(child(at, 'status'), status, supported));
    if (decisions.includes(type) && decisions.some((other) => other !== type && seen.has(other))) {
      const detail = 'Approved and Denied conditions are mutually exclusive';
      errors.push(invalid('status.conditions', type, detail));
    }
    if (seen.has(type)) errors.push(duplicate(child(at, 'type'), type));
    seen.add(type);
    return errors;
  });
}

export interface AllowedChanges {
  readonly decision?: boolean;
  readonly certificate?: boolean;
}

/** Source: pkg/apis/certificates/validation.validateCertificateSigningRequestUpdate. */
export const validateChange =
  (allowed: AllowedChanges) =>
  (request: CertificateSigningRequest, old: CertificateSigningRequest): Errors => [
    ...validateRequest(request),
    ...validateKept(request.status?.conditions ?? [], old.status?.conditions ?? [], allowed),
    ...validateCertificate(request.status?.certificate ?? '', old.status?.certificate ?? '', allowed),
  ];

/** What has been decided stays, and only some may decide. */
function validateKept(conditions: Conditions, old: Conditions, { decision }: AllowedChanges): Errors {
  const refuse = (what: string, type: string) =>
    forbidden('status.conditions', `updates may not ${what} a condition of type "${type}"`);
  return [...onlyTrue].flatMap((wanted) => {
    const [now, before] = [conditions, old].map((all) => all.filter(({ type }) => type === wanted));
    if (!now || !before) return [];
    if (now.length < before.length) return [refuse('remove', wanted)];
    if (decision || !decisions.includes(wanted)) return [];
    if (now.length > before.length) return [refuse('add', wanted)];
    return semanticEqual(now, before) ? [] : [refuse('modify', wanted)];
  });
}

function validateCertificate(encoded: string, old: string, { certificate }: AllowedChanges): Errors {
  const path = 'status.certificate';
  if (encoded === old) return [];
  if (!certificate) return [forbidden(path, 'updates may not set certificate content')];
  if (old !== '') return [forbidden(path, 'updates may not modify existing certificate content')];
  const types = [
    ...Buffer.from(encoded, 'base64')
      .toString()
      .matchAll(/-----BEGIN ([^-]+)-----/g),
  ];
  const refuse = (detail: string) => [invalid(path, '<certificate data>', detail)];
  if (types.length === 0) return refuse('must contain at least one CERTIFICATE PEM block');
  const other = types.find(([, type]) => type !== 'CERTIFICATE');
  return other ? refuse(`only CERTIFICATE PEM blocks are allowed, found "${other[1] ?? ''}"`) : [];
}
