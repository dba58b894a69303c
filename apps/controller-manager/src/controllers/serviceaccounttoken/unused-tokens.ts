import type { Pod, Secret, ServiceAccount } from '@tinkernetes/api';
import { isTokenOf, secretType } from './legacy-token';

export const lastUsedLabel = 'kubernetes.io/legacy-token-last-used';
export const invalidSinceLabel = 'kubernetes.io/legacy-token-invalid-since';

export interface Retention {
  now: number;
  /** How long a token may be unused, and how long after that it is kept as invalid. */
  cleanUpPeriodMs: number;
}

/** Days compare as texts. */
export const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
const isDay = (text: string | undefined): text is string => /^\d{4}-\d\d-\d\d$/.test(text ?? '');

/** Names of the Secrets that a Pod refers to. */
export function secretsOfPod({ spec }: Pod): string[] {
  const containers = [...(spec.initContainers ?? []), ...spec.containers];
  return [
    ...(spec.imagePullSecrets ?? []).map((reference) => reference.name),
    ...(spec.volumes ?? []).flatMap((volume) => [
      volume.secret?.secretName,
      ...(volume.projected?.sources ?? []).map((source) => source.secret?.name),
    ]),
    ...containers.flatMap((container) => [
      ...(container.env ?? []).map((variable) => variable.valueFrom?.secretKeyRef?.name),
      ...(container.envFrom ?? []).map((source) => source.secretRef?.name),
    ]),
  ].filter((name) => name !== undefined);
}

/**
 * What becomes of a token that was made by itself for an account: nobody may have used it for the period, and no Pod
 * may mount it. Then it is first marked as invalid, and deleted after another period.
 * Source: k8s.io/kubernetes/pkg/controller/serviceaccount/legacy_serviceaccount_token_cleaner.go; KEP-2799.
 */
export function fateOf(
  secret: Secret,
  {
    account,
    isMounted,
    now,
    cleanUpPeriodMs,
  }: Retention & { account: ServiceAccount | undefined; isMounted: boolean },
): 'keep' | 'invalidate' | 'delete' {
  const oldest = now - cleanUpPeriodMs;
  const { labels = {}, creationTimestamp = '', deletionTimestamp, name } = secret.metadata;
  if (secret.type !== secretType || deletionTimestamp || !(Date.parse(creationTimestamp) < oldest))
    return 'keep';
  const lastUsed = labels[lastUsedLabel];
  if (lastUsed !== undefined && (!isDay(lastUsed) || lastUsed >= dayOf(oldest))) return 'keep';
  // One that the account does not list was made by hand.
  if (!account || !isTokenOf(secret, account) || !account.secrets?.some((s) => s.name === name))
    return 'keep';
  if (isMounted) return 'keep';
  const invalidSince = labels[invalidSinceLabel];
  if (!isDay(invalidSince)) return 'invalidate';
  return invalidSince < dayOf(oldest) ? 'delete' : 'keep';
}
