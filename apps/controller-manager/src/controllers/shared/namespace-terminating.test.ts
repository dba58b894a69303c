import { StatusError } from '@tinkernetes/apimachinery';
import { isNamespaceTerminating } from './namespace-terminating';

const forbidden = (reason: string) =>
  new StatusError('Forbidden', 'pods "a" is forbidden', { details: { causes: [{ reason, message: '' }] } });

it.each([
  ['a namespace that is being deleted', forbidden('NamespaceTerminating'), true],
  ['another refusal', forbidden('FieldValueForbidden'), false],
  ['a broken connection', new Error('ECONNRESET'), false],
])('tells %s', (_, error, expected) => {
  expect(isNamespaceTerminating(error)).toBe(expected);
});
