import { ServiceAccounts } from '@tinkernetes/api';
import { age } from '../../../printers/cells';
import { defineStrategy } from '../../define-strategy';

/** Source: k8s.io/kubernetes/pkg/registry/core/serviceaccount. */
export const serviceAccountStrategy = defineStrategy(ServiceAccounts, {
  returnDeletedObject: true,
  tableCells: (account, now) => [account.metadata.name, age(account, now)],
});
