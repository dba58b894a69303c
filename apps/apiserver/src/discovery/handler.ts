import type { ApiRequest } from '../contracts';
import { checkRouteMediaTypes } from '../endpoints/route-media-types';
import { unknownResource, unsupportedMethod } from '../endpoints/routes';
import { negotiate } from '../endpoints/negotiation';
import { serialize } from '../endpoints/presenter';
import { splitPath } from '../server/request-info';
import { hashOf, PlainNotFound, sendNegotiated, sendWithETag } from '../server/respond';
import { aggregatedDiscovery, type AggregatedSources } from './aggregated';
import { apiGroups, apiResourceList } from './documents';

const aggregatedType =
  /application\/json\s*;(?=[^,]*g=apidiscovery\.k8s\.io)(?=[^,]*as=APIGroupDiscoveryList)[^,]*/;

export interface DiscoveryOptions extends AggregatedSources {
  /** `172.30.0.1:6443`: what clients are told to use. */
  serverAddress(): string;
}

/** Serves `/api`, `/apis`, `/apis/{group}` and the resource lists below; false: another path. */
export async function serveDiscovery(options: DiscoveryOptions, request: ApiRequest): Promise<boolean> {
  const parts = splitPath(request.info.path);
  const [root, second, third] = parts;
  if (root === 'api' && parts.length === 1) {
    checkRoute(request);
    await answerRoot(options, request, '/api', {
      kind: 'APIVersions',
      versions: ['v1'],
      serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: options.serverAddress() }],
    });
    return true;
  }
  if (root === 'apis' && parts.length === 1) {
    await answerRoot(options, request, '/apis', {
      kind: 'APIGroupList',
      apiVersion: 'v1',
      groups: apiGroups(options.table),
    });
    return true;
  }
  if (root === 'api' && parts.length === 2 && second) {
    checkRoute(request);
    answerResources(options, request, '', second);
    return true;
  }
  if (root !== 'apis' || !second || parts.length > 3) return false;
  const group = apiGroups(options.table).find(({ name }) => name === second);
  if (!group) throw new PlainNotFound();
  if (third) {
    checkRoute(request);
    answerResources(options, request, second, third);
  } else answer(request, { kind: 'APIGroup', apiVersion: 'v1', ...group });
  return true;
}

/** `/apis` and the groups below it, which upstream's aggregator answers, take any method. */
function checkRoute({ raw }: ApiRequest): void {
  if (raw.method !== 'GET') throw unsupportedMethod();
  checkRouteMediaTypes('GET', raw.headers, { isList: false });
}

async function answerRoot(
  options: DiscoveryOptions,
  request: ApiRequest,
  root: '/api' | '/apis',
  plain: object,
): Promise<void> {
  const match = aggregatedType.exec(request.raw.headers.accept ?? '')?.[0];
  const version = match && /v=(v2beta1|v2)/.exec(match)?.[1];
  if (!version) {
    answer(request, plain);
    return;
  }
  const bytes = Buffer.from(JSON.stringify(await aggregatedDiscovery(options, root, version)));
  await sendWithETag(request, {
    bytes,
    hash: hashOf(bytes),
    contentType: `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`,
  });
}

function answerResources(
  { table }: DiscoveryOptions,
  request: ApiRequest,
  group: string,
  version: string,
): void {
  const document = apiResourceList(table, group, version);
  if (!document) throw unknownResource();
  answer(request, document);
}

function answer(request: ApiRequest, value: object): void {
  const negotiated = negotiate(request.raw.headers.accept, { protobuf: true, scope: 'none' });
  sendNegotiated(request.response, 200, negotiated, serialize(value, negotiated));
}
