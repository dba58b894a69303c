import { createPrivateKey, type KeyObject } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { Secrets, ServiceAccounts, type Secret, type ServiceAccount } from '@tinkernetes/api';
import { ignoreNotFound, isConflict, isNotFound, keyOf } from '@tinkernetes/apimachinery';
import type { Reconciler } from '@tinkernetes/controller';
import type { ControllerContext, RunnableController } from '../../manager/context';
import { queueController } from '../../manager/queue-controller';
import { watchObjects } from '../shared/watch-objects';
import { accountName, accountUid, isTokenOf, legacyToken, secretType } from './legacy-token';

/**
 * Fills Secrets of type kubernetes.io/service-account-token, which users make for tokens that do not end, and deletes
 * those whose account is gone. Watches Secrets of that type and ServiceAccounts.
 * Source: k8s.io/kubernetes/pkg/controller/serviceaccount/tokens_controller.go.
 */
export function startServiceAccountTokenController(context: ControllerContext): RunnableController {
  const { client, flags, informers } = context;
  const queue = context.queues.create('serviceaccount_tokens_secret');
  const secrets = informers.for(Secrets, { fieldSelector: `type=${secretType}` });
  const accounts = informers.for(ServiceAccounts);
  watchObjects(secrets, (key) => queue.add(key));
  const onAccount = (account: ServiceAccount) => {
    for (const secret of secrets.lister.list(account.metadata.namespace))
      if (secret.metadata.annotations?.[accountName] === account.metadata.name) queue.add(keyOf(secret));
  };
  accounts.addEventHandler({ added: onAccount, deleted: onAccount });
  let signing: Promise<{ key: KeyObject; rootCa: string | undefined } | undefined> | undefined;

  async function readKeys() {
    const { 'service-account-private-key-file': keyFile, 'root-ca-file': caFile } = flags;
    if (!keyFile) return undefined;
    return {
      key: createPrivateKey(await readFile(keyFile)),
      rootCa: caFile ? await readFile(caFile, 'utf8') : undefined,
    };
  }

  const reconciler: Reconciler = {
    name: 'serviceaccount-token-controller',
    async reconcile(key, { signal }) {
      const secret = secrets.lister.getByKey(key);
      if (!secret || secret.metadata.deletionTimestamp) return;
      const { namespace } = secret.metadata;
      const name = secret.metadata.annotations?.[accountName] ?? '';
      const account =
        accounts.lister.get(name, namespace) ??
        // The cache may not have it yet, and the Secret would be deleted.
        (await client.for(ServiceAccounts).get(name, { namespace, signal }).catch(ignoreNotFound));
      if (!account || !isTokenOf(secret, account)) return remove(secret, signal);
      signing ??= readKeys().catch((error: unknown) => {
        // The retry reads them again.
        signing = undefined;
        throw error;
      });
      const keys = await signing;
      if (keys) await fill(secret, { account, ...keys, signal });
    },
  };

  async function remove({ metadata }: Secret, signal: AbortSignal): Promise<void> {
    const { name, namespace, uid } = metadata;
    await client
      .for(Secrets)
      .delete(name, { namespace, preconditions: { uid }, signal })
      .catch((error: unknown) => {
        if (!isNotFound(error) && !isConflict(error)) throw error;
      });
  }

  async function fill(
    secret: Secret,
    {
      account,
      key,
      rootCa,
      signal,
    }: { account: ServiceAccount; key: KeyObject; rootCa: string | undefined; signal: AbortSignal },
  ): Promise<void> {
    const encode = (text: string) => Buffer.from(text).toString('base64');
    const { data = {}, metadata } = secret;
    const wanted: Record<string, string> = {
      ...data,
      token: data['token'] ?? encode(legacyToken(key, account, secret)),
      namespace: encode(metadata.namespace ?? ''),
      ...(rootCa === undefined ? {} : { 'ca.crt': encode(rootCa) }),
    };
    const isComplete = Object.entries(wanted).every(([name, value]) => data[name] === value);
    if (isComplete && metadata.annotations?.[accountUid]) return;
    const annotations = { ...metadata.annotations, [accountUid]: account.metadata.uid ?? '' };
    await client
      .for(Secrets)
      .update(
        { ...secret, data: wanted, metadata: { ...metadata, annotations } },
        { namespace: metadata.namespace, signal },
      );
  }

  return queueController({
    context,
    queue,
    reconciler,
    concurrency: flags['concurrent-serviceaccount-token-syncs'],
  });
}
