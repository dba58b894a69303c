import type { CustomResourceDefinition } from '@tinkernetes/api';
import {
  child,
  forbidden,
  index,
  invalid,
  isDns1035Label,
  notSupported,
  required,
} from '@tinkernetes/apimachinery';
import type { FieldError } from '../../contracts';
import { validateClientConfig } from '../../registry/admissionregistration/client-config';

const path = 'spec.conversion';
/** As upstream's internal type names it. */
const configPath = child(path, 'webhookClientConfig');
const versionsPath = child(path, 'conversionReviewVersions');
const strategies = ['None', 'Webhook'];
const accepted = ['v1', 'v1beta1'];

/** What is wrong with how a definition says to convert between its versions. */
export function conversionErrors(
  { spec }: CustomResourceDefinition,
  { allowsAnyBundle = true } = {},
): FieldError[] {
  const { strategy, webhook } = spec.conversion ?? { strategy: 'None' };
  const { clientConfig, conversionReviewVersions = [] } = webhook ?? {};
  const errors: FieldError[] = [];
  if (!strategy) errors.push(required(child(path, 'strategy')));
  else if (!strategies.includes(strategy)) {
    errors.push(notSupported(child(path, 'strategy'), strategy, strategies));
  }
  if (strategy !== 'Webhook') {
    const detail = 'should not be set when strategy is not set to Webhook';
    if (clientConfig) errors.push(forbidden(configPath, detail));
    if (conversionReviewVersions.length) errors.push(forbidden(versionsPath, detail));
    return errors;
  }
  if (!clientConfig) errors.push(required(configPath, 'required when strategy is set to Webhook'));
  else {
    errors.push(...validateClientConfig(clientConfig, configPath));
    if (!allowsAnyBundle) errors.push(...bundleErrors(clientConfig.caBundle));
  }
  return [...errors, ...reviewVersionErrors(conversionReviewVersions)];
}

/** Whether an update may leave a bundle that is none. */
export const allowsAnyBundle = ({ spec, status }: CustomResourceDefinition): boolean =>
  !status?.conditions?.some((condition) => condition.type === 'Established' && condition.status === 'True') ||
  bundleErrors(spec.conversion?.webhook?.clientConfig?.caBundle).length > 0;

/** Base64 of certificates in PEM. */
function bundleErrors(caBundle: string | undefined): FieldError[] {
  if (!caBundle) return [];
  const bytes = Buffer.from(caBundle, 'base64');
  if (/-----BEGIN CERTIFICATE-----[\s\S]+-----END CERTIFICATE-----/.test(bytes.toString('latin1'))) return [];
  return [
    invalid(
      child(configPath, 'caBundle'),
      caBundle,
      'unable to load root certificates: unable to parse bytes as PEM block',
    ),
  ];
}

function reviewVersionErrors(versions: readonly string[]): FieldError[] {
  if (versions.length === 0) return [required(versionsPath)];
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  versions.forEach((version, i) => {
    if (seen.has(version)) {
      errors.push(invalid(index(versionsPath, i), version, 'duplicate version'));
      return;
    }
    seen.add(version);
    for (const message of isDns1035Label(version)) {
      errors.push(invalid(index(versionsPath, i), version, message));
    }
  });
  if (!versions.some((version) => accepted.includes(version))) {
    errors.push(invalid(versionsPath, versions, `must include at least one of ${accepted.join(', ')}`));
  }
  return errors;
}
