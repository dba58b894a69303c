import type { Pod, TokenRequest } from '@tinkernetes/api';
import type { Client } from '@tinkernetes/client';
import { VirtualClock } from '@tinkernetes/component-base/testing';
import { TokenManager } from './token-manager';

const pod: Pod = {
  metadata: { name: 'p', namespace: 'ns', uid: 'u' },
  spec: { serviceAccountName: 'robot', containers: [] },
};
const minutes = 60_000;

describe('TokenManager', () => {
  let clock: VirtualClock;
  let requests: TokenRequest[];
  let failure: Error | undefined;
  let tokens: TokenManager;
  beforeEach(() => {
    clock = new VirtualClock();
    requests = [];
    failure = undefined;
    const subresource = (_verb: string, _account: string, _name: string, request: TokenRequest) => {
      if (failure) return Promise.reject(failure);
      requests.push(request);
      const expires = clock.now() + (request.spec.expirationSeconds ?? 0) * 1000;
      const token = `token-${requests.length}`;
      return Promise.resolve({ status: { token, expirationTimestamp: new Date(expires).toISOString() } });
    };
    const client = { for: () => ({ subresource }) } as unknown as Client;
    tokens = new TokenManager(client, clock, { next: () => 0 } as never);
  });
  const ask = () => tokens.get(pod, { path: 'token', audience: 'vault', expirationSeconds: 600 });

  it('asks for a token that is bound to the Pod, and keeps it for four fifths of its life', async () => {
    expect(await ask()).toBe('token-1');
    expect(requests[0]?.spec).toEqual({
      audiences: ['vault'],
      expirationSeconds: 600,
      boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u' },
    });
    await clock.advance(7.9 * minutes);
    expect(await ask()).toBe('token-1');
    await clock.advance(0.2 * minutes);
    expect(await ask()).toBe('token-2');
  });

  it('keeps an old token while it can’t have a new one, until it ends', async () => {
    await ask();
    failure = new Error('no answer');
    await clock.advance(9 * minutes);
    expect(await ask()).toBe('token-1');
    await clock.advance(2 * minutes);
    await expect(ask()).rejects.toThrow('token expired and refresh failed: no answer');
    failure = undefined;
    expect(await ask()).toBe('token-2');
  });

  it('says why it has none', async () => {
    failure = new Error('no answer');
    await expect(ask()).rejects.toThrow('failed to fetch token: no answer');
  });

  it('gives a Pod that is made again a token of its own', async () => {
    await ask();
    tokens.forget('u');
    expect(await ask()).toBe('token-2');
  });
});
