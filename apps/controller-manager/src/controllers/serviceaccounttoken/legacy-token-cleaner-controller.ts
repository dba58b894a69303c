import { ConfigMaps, Pods, Secrets, ServiceAccounts, type Secret } from '@tinkernetes/api';
import { ignoreNotFound, isConflict, isNotFound } from '@tinkernetes/apimachinery';
import type { ControllerContext, RunnableController } from '../../manager/context';
import { accountName, secretType } from './legacy-token';
import { dayOf, fateOf, invalidSinceLabel, secretsOfPod } from './unused-tokens';

const periodMs = 24 * 3600_000;
const dayMs = 24 * 3600_000;
const trackingConfigMap = 'kube-apiserver-legacy-service-account-token-tracking';

/**
 * Once a day, marks and later deletes tokens of ServiceAccounts that nobody has used for a year.
 * Source: k8s.io/kubernetes/pkg/controller/serviceaccount/legacy_serviceaccount_token_cleaner.go.
 */
export function startLegacyTokenCleaner(context: ControllerContext): RunnableController {
  const { client, clock, flags, informers, logger, signal } = context;
  const secrets = informers.for(Secrets, { fieldSelector: `type=${secretType}` });
  const accounts = informers.for(ServiceAccounts);
  const pods = informers.for(Pods);
  const cleanUpPeriodMs = flags['legacy-service-account-token-clean-up-period'];

  async function cleanUp(): Promise<void> {
    const since = await trackedSince();
    const now = clock.now();
    // Before that, a token's use may have gone unnoticed.
    if (since === undefined || now < since + cleanUpPeriodMs) return;
    for (const secret of secrets.lister.list()) {
      const { name, namespace, annotations, resourceVersion, uid } = secret.metadata;
      const account = accounts.lister.get(annotations?.[accountName] ?? '', namespace);
      const isMounted = pods.lister.list(namespace).some((pod) => secretsOfPod(pod).includes(name));
      const fate = fateOf(secret, { account, isMounted, now, cleanUpPeriodMs });
      if (fate === 'invalidate') await invalidate(secret, now);
      if (fate === 'delete')
        await client
          .for(Secrets)
          .delete(name, { namespace, preconditions: { uid, resourceVersion }, signal })
          .catch((error: unknown) => {
            if (!isNotFound(error) && !isConflict(error)) throw error;
          });
    }
  }

  async function invalidate({ metadata: { name, namespace, uid } }: Secret, now: number): Promise<void> {
    const patch = { metadata: { uid, labels: { [invalidSinceLabel]: dayOf(now) } } };
    await client.for(Secrets).patch(name, patch, { type: 'merge', namespace, signal }).catch(ignoreNotFound);
  }

  /** From the start of the day after the API server began to note tokens' use. */
  async function trackedSince(): Promise<number | undefined> {
    const configMap = await client
      .for(ConfigMaps)
      .get(trackingConfigMap, { namespace: 'kube-system', signal })
      .catch(ignoreNotFound);
    const day = Date.parse(configMap?.data?.['since'] ?? '');
    return Number.isNaN(day) ? undefined : day + dayMs;
  }

  return {
    async run() {
      while (!signal.aborted) {
        await cleanUp().catch((error: unknown) => {
          if (!signal.aborted)
            logger.warn({ err: error }, 'unused tokens not looked for, trying again tomorrow');
        });
        await clock.sleep(periodMs, signal).catch((error: unknown) => {
          if (!signal.aborted) throw error;
        });
      }
    },
  };
}
