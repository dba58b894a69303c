import { canonicalIp, cidrContains, isValidIp } from './addresses';
import { invalid, notSupported, required } from './field-error';
import { isDns1123Label, isDns1123Subdomain, isLabelValue, isPortName, isQualifiedName } from './names';
import { validateObjectMeta, validateObjectMetaUpdate } from './object-meta';
import { invalidError, notFound } from '../status-builders';

describe('names', () => {
  it.each([
    [isDns1123Label, 'ok-1', 0],
    [isDns1123Label, 'Not', 1],
    [isDns1123Label, 'a.b', 1],
    [isDns1123Label, 'a'.repeat(64), 1],
    [isDns1123Subdomain, 'a.b-c', 0],
    [isDns1123Subdomain, 'a..b', 1],
    [isLabelValue, '', 0],
    [isLabelValue, 'a b', 1],
    [isQualifiedName, 'example.com/Name_1', 0],
    [isQualifiedName, 'a/b/c', 1],
    [isQualifiedName, '/x', 1],
    [isQualifiedName, '', 2],
    [isPortName, 'http', 0],
    [isPortName, '80', 1],
    [isPortName, 'too-long-a-port-name', 1],
  ])('%p finds in %j as many faults as upstream: %d', (check, value, count) => {
    expect(check(value)).toHaveLength(count);
  });
});

describe('addresses', () => {
  it.each([
    ['10.0.0.0/8', '10.1.2.3', true],
    ['10.0.0.0/8', '11.0.0.1', false],
    ['fd00::/8', 'fd12::1', true],
    ['10.0.0.0/8', 'fd00::1', false],
  ])('%s contains %s: %s', (cidr, address, expected) => {
    expect(cidrContains(cidr, address)).toBe(expected);
  });

  it('writes IPv6 addresses as RFC 5952 says', () => {
    expect(canonicalIp('2001:0DB8:0:0:1:0:0:1')).toBe('2001:db8::1:0:0:1');
    expect(isValidIp('1.2.3')).toHaveLength(1);
  });
});

describe('field errors', () => {
  it('are worded as upstream words them', () => {
    expect(invalid('spec.replicas', -1, 'must be greater than or equal to 0').message).toBe(
      'Invalid value: -1: must be greater than or equal to 0',
    );
    expect(invalid('a', 'say "hi"\n').message).toBe('Invalid value: "say \\"hi\\"\\n"');
    expect(invalid('a', undefined, 'x').message).toBe('Invalid value: null: x');
    expect(notSupported('a', 'X', ['B', 'A']).message).toBe(
      'Unsupported value: "X": supported values: "B", "A"',
    );
  });

  it('make a 422 with one cause each, and each text once', () => {
    const error = invalidError({ group: 'apps', kind: 'Deployment' }, 'web', [
      required('spec.selector'),
      required('spec.selector'),
      invalid('spec.replicas', -1),
    ]);
    expect(error.message).toBe(
      'Deployment.apps "web" is invalid: [spec.selector: Required value, spec.replicas: Invalid value: -1]',
    );
    expect(error.toStatus()).toMatchObject({
      code: 422,
      reason: 'Invalid',
      details: { name: 'web', group: 'apps', kind: 'Deployment' },
    });
    expect(error.causes).toHaveLength(3);
  });

  it('name the resource that was not found', () => {
    expect(notFound({ group: 'apps', resource: 'deployments' }, 'x').toStatus()).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'deployments.apps "x" not found',
      reason: 'NotFound',
      details: { name: 'x', group: 'apps', kind: 'deployments' },
      code: 404,
    });
  });
});

describe('metadata', () => {
  const rules = { isNamespaced: true, nameCheck: isDns1123Subdomain };
  const fieldsOf = (meta: object) =>
    validateObjectMeta({ name: 'a', namespace: 'ns', ...meta }, rules).map((error) => error.field);

  it.each([
    [{}, []],
    [{ name: '' }, ['metadata.name']],
    [{ name: 'Bad_' }, ['metadata.name']],
    [{ namespace: '' }, ['metadata.namespace']],
    [{ finalizers: ['nodomain'] }, ['metadata.finalizers[0]']],
    [{ labels: { 'bad key': 'x' } }, ['metadata.labels']],
    [{ annotations: { a: 'x'.repeat(300_000) } }, ['metadata.annotations']],
  ])('of %j: faults in %j', (meta, expected) => {
    expect(fieldsOf(meta)).toEqual(expected);
  });

  it('C14: takes no new finalizers while an object is being deleted', () => {
    const old = { name: 'f', deletionTimestamp: '2030-01-01T00:00:00Z', finalizers: ['depot.test/a'] };
    const next = { ...old, finalizers: ['depot.test/a', 'depot.test/b'] };
    expect(validateObjectMetaUpdate(next, old).map((error) => error.message)).toEqual([
      'Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"depot.test/b"}',
    ]);
  });

  it('keeps identity', () => {
    const old = { name: 'a', uid: '1' };
    expect(validateObjectMetaUpdate({ name: 'a', uid: '2' }, old).map(({ field }) => field)).toEqual([
      'metadata.uid',
    ]);
  });
});
