import { Nodes, Pods, Secrets, ServiceAccounts } from '@tinkernetes/api';
import type { KubeObject, ServiceAccount, TokenRequest } from '@tinkernetes/api';
import { badRequest, conflict, invalid, invalidError, splitApiVersion } from '@tinkernetes/apimachinery';
import type { FieldError } from '@tinkernetes/apimachinery';
import { formatTime } from '@tinkernetes/component-base';
import type { HandlerDependencies, StoreRegistry, SubresourceHandler } from '../contracts';
import type { TokenIssuer, TokenOptions } from './issuer';

const group = 'authentication.k8s.io';
const minimumSeconds = 600;
const maximumSeconds = 2 ** 32;
const defaultSeconds = 3600;

/**
 * POST serviceaccounts/NAME/token: a new token, bound to a Pod, Secret or Node when asked.
 * Source: https://kubernetes.io/docs/reference/kubernetes-api/authentication-resources/token-request-v1/
 */
export function createTokenRequestHandler(
  { stores, io, admit, options }: HandlerDependencies,
  getIssuer: () => Promise<TokenIssuer | undefined>,
): SubresourceHandler {
  return async (request) => {
    const { name, namespace } = request.info;
    const issuer = await getIssuer();
    if (!issuer)
      throw badRequest('this server has no --service-account-signing-key-file: it issues no tokens');
    const given = (await io.readObject(request, {
      group,
      version: 'v1',
      kind: 'TokenRequest',
    })) as TokenRequest;
    const sent = given.metadata as KubeObject['metadata'] | undefined;
    checkMatches('name', { given: sent?.name, wanted: name, account: name });
    checkMatches('namespace', { given: sent?.namespace, wanted: namespace, account: name });
    const account = await stores.for(ServiceAccounts).get(name, namespace);
    if (sent?.uid && sent.uid !== account.metadata.uid) {
      throw conflict(
        { group, resource: 'TokenRequest' },
        name,
        `the UID in the token request (${sent.uid}) does not match the UID of the service account (${account.metadata.uid ?? ''})`,
      );
    }
    const spec = {
      ...given.spec,
      audiences: given.spec?.audiences?.length ? given.spec.audiences : [...options.apiAudiences],
      expirationSeconds: given.spec?.expirationSeconds ?? defaultSeconds,
    };
    const errors = validate(spec);
    if (errors.length > 0) throw invalidError({ group, kind: 'TokenRequest' }, sent?.name ?? '', errors);
    const { metadata } = account;
    const wanted: TokenRequest = {
      ...given,
      metadata: {
        ...sent,
        name,
        namespace,
        uid: metadata.uid,
        creationTimestamp: metadata.creationTimestamp,
      },
      spec,
    };
    const admitted = (await admit(request, {
      operation: 'CREATE',
      kind: { group, version: 'v1', kind: 'TokenRequest' },
      object: wanted as KubeObject,
      oldObject: undefined,
    })) as TokenRequest | undefined;
    const final = admitted ?? wanted;
    const bound = await boundObject(stores, account, final.spec.boundObjectRef);
    const { token, expirationMs } = issuer.issue({
      account,
      audiences: final.spec.audiences ?? options.apiAudiences,
      expirationSeconds: final.spec.expirationSeconds ?? defaultSeconds,
      ...bound,
    });
    io.respond(request, 201, {
      kind: 'TokenRequest',
      apiVersion: `${group}/v1`,
      ...final,
      spec: { ...final.spec, boundObjectRef: final.spec.boundObjectRef ?? null },
      status: { token, expirationTimestamp: formatTime(expirationMs) },
    });
  };
}

function checkMatches(
  what: string,
  { given, wanted, account }: { given: string | undefined; wanted: string; account: string },
): void {
  if (given && given !== wanted) {
    const detail = `must match the service account ${what} if specified`;
    throw invalidError({ group, kind: 'TokenRequest' }, account, [
      invalid(`metadata.${what}`, given, detail),
    ]);
  }
}

function validate(spec: TokenRequest['spec']): FieldError[] {
  const field = 'spec.expirationSeconds';
  const seconds = spec.expirationSeconds ?? defaultSeconds;
  const errors: FieldError[] = [];
  if (seconds < minimumSeconds) {
    errors.push(invalid(field, seconds, 'may not specify a duration less than 10 minutes'));
  }
  if (seconds > maximumSeconds) {
    errors.push(invalid(field, seconds, 'may not specify a duration larger than 2^32 seconds'));
  }
  return errors;
}

type Bound = Pick<TokenOptions, 'pod' | 'secret' | 'node'>;

async function boundObject(
  stores: StoreRegistry,
  account: ServiceAccount,
  reference: TokenRequest['spec']['boundObjectRef'],
): Promise<Bound> {
  if (!reference) return {};
  const { name = '', uid, kind = '' } = reference;
  const [apiGroup, version] = splitApiVersion(reference.apiVersion ?? '');
  const isBindable = apiGroup === '' && ['Pod', 'Secret', 'Node'].includes(kind);
  if (!isBindable) {
    throw badRequest(`cannot bind token to object of type ${apiGroup}/${version}, Kind=${kind}`);
  }
  if (name === '') throw badRequest('Name parameter required.');
  const { namespace } = account.metadata;
  switch (kind) {
    case 'Pod': {
      const pod = await stores.for(Pods).get(name, namespace);
      if (account.metadata.name !== pod.spec?.serviceAccountName) {
        throw badRequest(
          `cannot bind token for serviceaccount "${account.metadata.name ?? ''}" to pod running with different serviceaccount name.`,
        );
      }
      checkUid('Pod', pod, uid);
      return { pod, node: nodeOf(stores, pod.spec.nodeName) };
    }
    case 'Secret': {
      const secret = await stores.for(Secrets).get(name, namespace);
      checkUid('Secret', secret, uid);
      return { secret };
    }
    default: {
      const node = await stores.for(Nodes).get(name);
      checkUid('Node', node, uid);
      return { node: { name, uid: node.metadata.uid } };
    }
  }
}

/** The node's uid is named when it is known; a Pod may be bound to a node that is gone. */
function nodeOf(stores: StoreRegistry, name: string | undefined): TokenOptions['node'] {
  if (!name) return undefined;
  const uid = stores.for(Nodes).peek(name)?.metadata.uid;
  return { name, ...(uid && { uid }) };
}

function checkUid(kind: string, object: KubeObject, wanted: string | undefined): void {
  const { uid = '', name = '' } = object.metadata;
  if (!wanted || wanted === uid) return;
  throw conflict(
    { group: '', resource: kind },
    name,
    `the UID in the bound object reference (${wanted}) does not match the UID in record. The object might have been deleted and then recreated`,
  );
}
