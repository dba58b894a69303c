import { parseRequestInfo } from './request-info';

const parse = (request: string) => {
  const [method = '', url = ''] = request.split(' ');
  const [path = '', query = ''] = url.split('?');
  const i = parseRequestInfo(method, path, new URLSearchParams(query));
  return i.isResourceRequest
    ? [i.verb, i.apiGroup, i.apiVersion, i.namespace, i.resource, i.name, i.subresource]
    : [i.verb, i.path];
};

describe('parseRequestInfo', () => {
  it.each([
    ['GET /api/v1/pods', ['list', '', 'v1', '', 'pods', '', '']],
    ['GET /api/v1/namespaces/a/pods/b/log', ['get', '', 'v1', 'a', 'pods', 'b', 'log']],
    ['GET /api/v1/namespaces/a', ['get', '', 'v1', 'a', 'namespaces', 'a', '']],
    ['PUT /api/v1/namespaces/a/finalize', ['update', '', 'v1', 'a', 'namespaces', 'a', 'finalize']],
    ['POST /apis/apps/v1/namespaces/a/deployments', ['create', 'apps', 'v1', 'a', 'deployments', '', '']],
    [
      'DELETE /apis/apps/v1/namespaces/a/deployments',
      ['deletecollection', 'apps', 'v1', 'a', 'deployments', '', ''],
    ],
    ['GET /api/v1/nodes?watch=1', ['watch', '', 'v1', '', 'nodes', '', '']],
    ['GET /api/v1/watch/nodes/a', ['watch', '', 'v1', '', 'nodes', 'a', '']],
    ['GET /api/v1/nodes?fieldSelector=metadata.name%3Da', ['list', '', 'v1', '', 'nodes', 'a', '']],
    ['GET /apis/apps/v1', ['get', '/apis/apps/v1']],
    ['POST /healthz', ['post', '/healthz']],
  ])('%s', (request, expected) => {
    expect(parse(request)).toEqual(expected);
  });
});
