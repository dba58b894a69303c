import type { Namespace, ServiceAccount } from '@tinkernetes/api';
import { missingAccount } from './service-account-controller';

const namespace = (phase?: 'Active' | 'Terminating'): Namespace => ({
  metadata: { name: 'ns' },
  spec: {},
  ...(phase ? { status: { phase } } : {}),
});
const account: ServiceAccount = { metadata: { name: 'default', namespace: 'ns' } };

// As upstream's TestServiceAccountCreation has them.
it.each<[string, Namespace | undefined, ServiceAccount | undefined, ServiceAccount | undefined]>([
  ['an active namespace without one', namespace('Active'), undefined, account],
  ['a new namespace', namespace(), undefined, account],
  ['an active namespace with one', namespace('Active'), account, undefined],
  ['a terminating namespace without one', namespace('Terminating'), undefined, undefined],
  ['a terminating namespace with one', namespace('Terminating'), account, undefined],
  ['a namespace that is gone', undefined, undefined, undefined],
  ['a namespace that is gone before its account', undefined, account, undefined],
])('for %s', (_, given, has, expected) => {
  expect(missingAccount(given, has)).toEqual(expected);
});
