import type { CertificateSigningRequest } from '@tinkernetes/api';
import { validateChange, validateRequest } from './validate';

type Status = NonNullable<CertificateSigningRequest['status']>;
type Condition = NonNullable<Status['conditions']>[number];

const encoded = (type: string) =>
  Buffer.from(`-----BEGIN ${type}-----\nAA==\n-----END ${type}-----\n`).toString('base64');
const requestOf = (spec: Partial<CertificateSigningRequest['spec']>, status: Status = {}) =>
  ({
    metadata: { name: 'r' },
    spec: {
      request: encoded('CERTIFICATE REQUEST'),
      signerName: 'example.com/s',
      usages: ['client auth'],
      ...spec,
    },
    status,
  }) as CertificateSigningRequest;
const withConditions = (...conditions: Condition[]) => requestOf({}, { conditions });
const is = (type: string, status = 'True'): Condition => ({ type, status });
const told = (errors: readonly { field: string; message: string }[]) =>
  errors.map(({ field, message }) => `${field}: ${message}`);

describe('a CertificateSigningRequest', () => {
  it.each([
    ['example.com/s', undefined],
    ['example.com/a/b', "must be a fully qualified domain and path of the form 'example.com/signer-name'"],
    ['example/s', 'should be a domain with at least two segments separated by dots'],
    ['kubernetes.io/legacy-unknown', 'the legacy signerName is not allowed via this API version'],
    ['example.com/S', 'validating label "S": a lowercase RFC 1123 subdomain must consist of'],
  ])('for the signer %s', (signerName, problem) => {
    const [error] = told(validateRequest(requestOf({ signerName })));
    if (problem === undefined) expect(error).toBeUndefined();
    else expect(error).toContain(problem);
  });

  it('names each usage once', () => {
    expect(told(validateRequest(requestOf({ usages: ['signing', 'signing'] })))).toEqual([
      'spec.usages[1]: Duplicate value: "signing"',
    ]);
  });

  it.each<[Condition[], string]>([
    [[is('Approved', '')], 'status.conditions[0].status: Required value'],
    [
      [is('Failed', 'False')],
      'status.conditions[0].status: Unsupported value: "False": supported values: "True"',
    ],
    [
      [is('Approved'), is('Denied')],
      'status.conditions: Invalid value: "Denied": Approved and Denied conditions are mutually exclusive',
    ],
    [[is('Own', 'False'), is('Own')], 'status.conditions[1].type: Duplicate value: "Own"'],
  ])('with the conditions %j', (conditions, error) => {
    expect(told(validateRequest(withConditions(...conditions)))).toEqual([error]);
  });

  it('is decided once, and only by who may decide', () => {
    const refused = (what: string, type: string) =>
      `status.conditions: Forbidden: updates may not ${what} a condition of type "${type}"`;
    const approved = withConditions(is('Approved'));
    expect(validateChange({ decision: true })(approved, requestOf({}))).toEqual([]);
    expect(told(validateChange({})(approved, requestOf({})))).toEqual([refused('add', 'Approved')]);
    expect(told(validateChange({ decision: true })(requestOf({}), approved))).toEqual([
      refused('remove', 'Approved'),
    ]);
  });

  it('gets its certificate once, and only by its status', () => {
    const issued = requestOf({}, { certificate: encoded('CERTIFICATE') });
    const sign = (certificate: string, old = requestOf({}), allowed = { certificate: true }) =>
      told(validateChange(allowed)(requestOf({}, { certificate }), old));
    expect(sign(encoded('CERTIFICATE'))).toEqual([]);
    expect(sign('', issued)).toEqual([
      'status.certificate: Forbidden: updates may not modify existing certificate content',
    ]);
    expect(sign('YQ==')).toEqual([
      'status.certificate: Invalid value: "<certificate data>": must contain at least one CERTIFICATE PEM block',
    ]);
    expect(sign(encoded('CERTIFICATE'), requestOf({}), { certificate: false })).toEqual([
      'status.certificate: Forbidden: updates may not set certificate content',
    ]);
  });
});
