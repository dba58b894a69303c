import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { clearProxyHeaders } from './proxy-headers';

const options = {
  clientCaFile: 'ca.crt',
  allowedNames: [],
  usernameHeaders: ['X-Caller'],
  uidHeaders: ['X-Caller-Id'],
  groupHeaders: ['X-Team'],
  extraHeaderPrefixes: ['X-More-'],
};

const requestWith = (headers: Record<string, string>): IncomingMessage => {
  const lower = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  return Object.assign(new IncomingMessage(new Socket()), {
    headers: Object.fromEntries(lower),
    headersDistinct: Object.fromEntries(lower.map(([name, value]) => [name, [value]])),
    rawHeaders: Object.entries(headers).flat(),
  });
};

describe('headers of proxies', () => {
  it('are gone from a request that was authenticated, under whichever names', () => {
    const request = requestWith({
      'X-Caller': 'admin',
      Accept: 'X-Caller',
      'x-caller-id': '1',
      'X-TEAM': 'system:masters',
      'X-More-Scopes': 'all',
    });
    clearProxyHeaders(request, options);
    expect(request.headers).toEqual({ accept: 'X-Caller' });
    expect(request.headersDistinct).toEqual({ accept: ['X-Caller'] });
    expect(request.rawHeaders).toEqual(['Accept', 'X-Caller']);
  });

  it('leave a request without them as it is', () => {
    const request = requestWith({ Accept: '*/*', 'X-Callers': 'x' });
    clearProxyHeaders(request, options);
    expect(request.rawHeaders).toEqual(['Accept', '*/*', 'X-Callers', 'x']);
  });
});
