import { ConfigMaps } from '@tinkernetes/api';
import { createClient, type Client } from '@tinkernetes/client';
import { realClock } from '@tinkernetes/component-base';
import { VirtualClock } from '@tinkernetes/component-base/testing';
import { startApiServer, type TestApiServer } from '@tinkernetes/testing';
import { createServiceAccountClients, type ServiceAccountClients } from './service-account-client';

describe('createServiceAccountClients', () => {
  let api: TestApiServer;
  let manager: Client;
  let clients: ServiceAccountClients;
  let client: Client;
  const clock = new VirtualClock(realClock.now());

  beforeAll(async () => {
    api = await startApiServer({ flags: ['--authorization-mode=AlwaysAllow'] });
    manager = createClient(api.adminConfig);
    clients = createServiceAccountClients({ manager, config: api.adminConfig, clock });
    client = clients.for('job-controller');
  });
  afterAll(async () => {
    clients.close();
    manager.close();
    await api.stop();
  });

  const whoIs = async (asking: Client) => {
    const review = await asking.request<{ status: { userInfo: { username: string } } }>({
      method: 'POST',
      path: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
      body: { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
    });
    return review.status.userInfo.username;
  };

  it("acts as each controller's own account, which it makes where there is none", async () => {
    const names = await Promise.all([client, clients.for('cronjob-controller')].map(whoIs));
    expect(names).toEqual([
      'system:serviceaccount:kube-system:job-controller',
      'system:serviceaccount:kube-system:cronjob-controller',
    ]);
    expect(clients.for('job-controller')).toBe(client);
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
