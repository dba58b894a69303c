import type { RequestInfo } from '../contracts';
import type { ServedResource } from '../registry/generic/served-resource';
import { parseRequestInfo } from '../server/request-info';
import { checkRoute, checkSubresourceMethod } from './routes';
import { checkRouteMediaTypes } from './route-media-types';

const all = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'];
const resource = (namespaced: boolean, verbs = all) =>
  ({ descriptor: { namespaced }, verbs: new Set(verbs) }) as unknown as ServedResource;
const pods = resource(true);
const nodes = resource(false);
const reviews = resource(true, ['create']);

const refusal = (check: () => void): number => {
  try {
    check();
    return 200;
  } catch (error) {
    return (error as { toStatus(): { code: number } }).toStatus().code;
  }
};
const infoOf = (method: string, path: string): RequestInfo =>
  parseRequestInfo(method, path, new URLSearchParams());

describe('checkRoute', () => {
  it.each([
    ['DELETE', '/api/v1/pods', pods, 405],
    ['PUT', '/api/v1/pods', pods, 405],
    ['POST', '/api/v1/pods', pods, 405],
    ['GET', '/api/v1/pods', pods, 200],
    ['HEAD', '/api/v1/pods', pods, 405],
    ['DELETE', '/api/v1/namespaces/a/pods', pods, 200],
    ['PUT', '/api/v1/namespaces/a/pods', pods, 405],
    ['POST', '/api/v1/namespaces/a/pods/b', pods, 405],
    ['OPTIONS', '/api/v1/namespaces/a/pods/b', pods, 405],
    ['DELETE', '/api/v1/nodes', nodes, 200],
    ['PATCH', '/api/v1/nodes', nodes, 405],
    ['GET', '/api/v1/watch/pods', pods, 200],
    ['DELETE', '/api/v1/watch/pods', pods, 405],
    ['GET', '/api/v1/bindings', reviews, 404],
    ['GET', '/api/v1/namespaces/a/bindings', reviews, 405],
    ['POST', '/api/v1/namespaces/a/bindings', reviews, 200],
    ['GET', '/api/v1/namespaces/a/bindings/b', reviews, 404],
  ])('%s %s', (method, path, of, code) => {
    expect(refusal(() => checkRoute(of, infoOf(method, path), method))).toBe(code);
  });

  it.each([
    ['log', ['get'], 'HEAD', 405],
    ['log', ['get'], 'GET', 200],
    ['proxy', ['get'], 'OPTIONS', 200],
    ['eviction', ['create'], 'GET', 405],
  ])('of %s with %j: %s', (name, verbs, method, code) => {
    expect(refusal(() => checkSubresourceMethod({ name, verbs }, method))).toBe(code);
  });
});

describe('checkRouteMediaTypes', () => {
  it.each([
    ['GET', 'text/html', undefined, 406],
    ['GET', 'text/html, */*;q=0.1', undefined, 200],
    ['GET', 'application/*', undefined, 406],
    ['GET', 'application/yaml', undefined, 200],
    ['PATCH', undefined, 'application/json', 415],
    ['PATCH', undefined, undefined, 415],
    ['PATCH', undefined, 'application/merge-patch+json; charset=utf-8', 200],
  ])('%s accepting %s with a %s body', (method, accept, contentType, code) => {
    const headers = { accept, 'content-type': contentType };
    expect(refusal(() => checkRouteMediaTypes(method, headers, { isList: false }))).toBe(code);
  });
});
