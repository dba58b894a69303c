import { Nodes, Pods, Secrets, ServiceAccounts } from '@tinkernetes/api';
import type { KubeObject, ServiceAccount, TokenRequest } from '@tinkernetes/api';
import { badRequest, conflict, invalid, invalidError, required } from '@tinkernetes/apimachinery';
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
    const account = await stores.for(ServiceAccounts).get(name, namespace);
    const sent = given.metadata as KubeObject['metadata'] | undefined;
    checkMatches('name', sent?.name, name);
    checkMatches('namespace', sent?.namespace, namespace);
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

function checkMatches(what: string, given: string | undefined, wanted: string): void {
  if (given && given !== wanted) {
    throw badRequest(`the ${what} of the provided object does not match the ${what} sent on the request`);
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
  if (spec.boundObjectRef && !spec.boundObjectRef.name) errors.push(required('spec.boundObjectRef.name'));
  return errors;
}

type Bound = Pick<TokenOptions, 'pod' | 'secret' | 'node'>;

async function boundObject(
  stores: StoreRegistry,
  account: ServiceAccount,
  reference: TokenRequest['spec']['boundObjectRef'],
): Promise<Bound> {
  if (!reference) return {};
  const { name = '', uid } = reference;
  const { namespace } = account.metadata;
  switch (`${reference.apiVersion ?? ''}/${reference.kind ?? ''}`) {
    case 'v1/Pod': {
      const pod = await stores.for(Pods).get(name, namespace);
      if (account.metadata.name !== pod.spec?.serviceAccountName) {
        throw badRequest(
          `cannot bind token for serviceaccount "${account.metadata.name ?? ''}" to pod running with different serviceaccount name.`,
        );
      }
      checkUid('pods', pod, uid);
      return { pod, node: nodeOf(stores, pod.spec.nodeName) };
    }
    case 'v1/Secret': {
      const secret = await stores.for(Secrets).get(name, namespace);
      checkUid('secrets', secret, uid);
      return { secret };
    }
    case 'v1/Node': {
      const node = await stores.for(Nodes).get(name);
      checkUid('nodes', node, uid);
      return { node: { name, uid: node.metadata.uid } };
    }
    default:
      throw badRequest(
        `cannot bind token to object of type ${reference.apiVersion ?? ''}, Kind=${reference.kind ?? ''}`,
      );
  }
}

/** The node's uid is named when it is known; a Pod may be bound to a node that is gone. */
function nodeOf(stores: StoreRegistry, name: string | undefined): TokenOptions['node'] {
  if (!name) return undefined;
  const uid = stores.for(Nodes).peek(name)?.metadata.uid;
  return { name, ...(uid && { uid }) };
}

function checkUid(resource: string, object: KubeObject, wanted: string | undefined): void {
  const { uid = '', name = '' } = object.metadata;
  if (!wanted || wanted === uid) return;
  throw conflict(
    { group: '', resource },
    name,
    `the UID in the bound object reference (${wanted}) does not match the UID in record. The object might have been deleted and then recreated`,
  );
}
