import type { IncomingMessage } from 'node:http';
import { parseRequestInfo } from '../server/request-info';
import { reportedDryRun, reportedPath, reportedScope, reportedVerb } from './request-labels';

const pods = '/api/v1/namespaces/a/pods';

describe('labels of a request', () => {
  it.each([
    ['GET', pods, 'LIST', 'namespace'],
    ['GET', '/api/v1/pods', 'LIST', 'cluster'],
    ['GET', `${pods}?fieldSelector=metadata.name=p`, 'LIST', 'namespace'],
    ['GET', `${pods}?watch=1&fieldSelector=metadata.name=p`, 'WATCH', 'namespace'],
    ['GET', '/api/v1/watch/namespaces/a/pods', 'WATCH', 'namespace'],
    ['GET', `${pods}/p`, 'GET', 'resource'],
    ['HEAD', `${pods}/p/proxy`, 'CONNECT', 'resource'],
    ['GET', `${pods}/p/log`, 'CONNECT', 'resource'],
    ['POST', `${pods}/p/exec`, 'CONNECT', 'resource'],
    ['GET', '/api/v1/namespaces/a/status', 'GET', 'resource'],
    ['POST', pods, 'POST', 'resource'],
    ['POST', '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews', 'POST', 'resource'],
    ['DELETE', pods, 'DELETE', 'namespace'],
    ['PATCH', `${pods}/p`, 'PATCH', 'resource'],
    ['GET', '/healthz', 'GET', ''],
  ])('of %s %s say %s and %s', (method, url, verb, scope) => {
    const [path = '', query] = url.split('?');
    const info = parseRequestInfo(method, path, new URLSearchParams(query));
    expect(reportedVerb(info, { method, headers: {} } as IncomingMessage)).toBe(verb);
    expect(reportedScope(info)).toBe(scope);
  });

  it('call server-side apply by its name', () => {
    const info = parseRequestInfo('PATCH', `${pods}/p`, new URLSearchParams());
    const headers = { 'content-type': 'application/apply-patch+yaml' };
    expect(reportedVerb(info, { method: 'PATCH', headers } as IncomingMessage)).toBe('APPLY');
  });

  it.each([
    ['', ''],
    ['dryRun=All', 'All'],
    ['dryRun=All&dryRun=All', 'All'],
    ['dryRun=Some', 'invalid'],
  ])('of the query %j have the dry run %j', (query, expected) => {
    expect(reportedDryRun(new URLSearchParams(query))).toBe(expected);
  });

  it.each([
    ['/readyz', '/readyz'],
    ['/openapi/v3', 'openapi/v3'],
    ['/openapi/v3/api/v1', 'openapi/v3/'],
  ])('of the path %s name %s', (path, expected) => expect(reportedPath(path)).toBe(expected));
});
