import type { ServiceAccount } from '@tinkernetes/api';
import { mapList, mapMember } from '../../fill';
import { ServiceAccounts } from '@tinkernetes/api';
import { age } from '../../../printers/cells';
import { defineStrategy } from '../../define-strategy';

/** Of the secrets only the names are kept. Source: serviceaccount strategy.cleanSecretReferences. */
const withSecretNames = (account: ServiceAccount): ServiceAccount =>
  mapMember(account, 'secrets', (secrets) => mapList(secrets, ({ name }) => ({ name })));

const mountable = 'kubernetes.io/enforce-mountable-secrets';
const hasMountableAnnotation = ({ metadata }: ServiceAccount): boolean =>
  metadata.annotations?.[mountable] !== undefined;

/** Source: k8s.io/kubernetes/pkg/registry/core/serviceaccount. */
export const serviceAccountStrategy = defineStrategy(ServiceAccounts, {
  returnDeletedObject: true,
  prepareForCreate: withSecretNames,
  prepareForUpdate: withSecretNames,
  warnings: (account, old) =>
    hasMountableAnnotation(account) && !(old && hasMountableAnnotation(old))
      ? [
          `metadata.annotations[${mountable}]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets`,
        ]
      : [],
  tableCells: (account, now) => [account.metadata.name, age(account, now)],
});
