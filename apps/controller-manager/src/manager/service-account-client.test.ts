import { ConfigMaps } from '@tinkernetes/api';
import { createClient, type Client } from '@tinkernetes/client';
import { realClock } from '@tinkernetes/component-base';
import { VirtualClock } from '@tinkernetes/component-base/testing';
import { startApiServer, type TestApiServer } from '@tinkernetes/testing';
import { createServiceAccountClient } from './service-account-client';

describe('createServiceAccountClient', () => {
  let api: TestApiServer;
  let manager: Client;
  let client: Client;
  const clock = new VirtualClock(realClock.now());

  beforeAll(async () => {
    api = await startApiServer({ flags: ['--authorization-mode=AlwaysAllow'] });
    manager = createClient(api.adminConfig);
    client = createServiceAccountClient({
      manager,
      config: api.adminConfig,
      serviceAccount: 'job-controller',
      clock,
    });
  });
  afterAll(async () => {
    client.close();
    manager.close();
    await api.stop();
  });

  it("acts as the controller's own account, which it makes where there is none", async () => {
    const review = await client.request<{ status: { userInfo: { username: string } } }>({
      method: 'POST',
      path: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
      body: { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
    });
    expect(review.status.userInfo.username).toBe('system:serviceaccount:kube-system:job-controller');
  });

  it('breaks nothing off when its token is renewed', async () => {
    const stop = new AbortController();
    const configMaps = client.for(ConfigMaps);
    const { metadata } = await configMaps.list({ namespace: 'default' });
    const { resourceVersion } = metadata;
    const first = configMaps
      .watch({ namespace: 'default', resourceVersion, signal: stop.signal })
      [Symbol.asyncIterator]()
      .next();
    await clock.advance(3600_000);
    await configMaps.create({ metadata: { name: 'a', namespace: 'default' } });
    expect((await first).value).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'a' } } });
    stop.abort(new Error('test is over'));
  });
});
