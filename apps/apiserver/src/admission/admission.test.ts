import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import {
  MutatingWebhookConfigurations,
  Namespaces,
  Pods,
  ResourceQuotas,
  ServiceAccounts,
  ValidatingWebhookConfigurations,
} from '@tinkernetes/api';
import { createClient, type Client } from '@tinkernetes/client';
import { issueCertificate } from '@tinkernetes/pki';
import { startApiServer, type TestApiServer } from '@tinkernetes/testing';
import { AdmissionFixture, outcome, rule } from './testing/admission-fixture';

describe('admission', () => {
  let server: TestApiServer;
  let client: Client;
  let fixture: AdmissionFixture;
  beforeAll(async () => {
    server = await startApiServer();
    client = createClient(server.adminConfig);
    fixture = new AdmissionFixture(client);
  });
  afterAll(async () => {
    client.close();
    await server.stop();
  });

  const pod = (name: string, resources: object = {}) => ({
    metadata: { name },
    spec: { containers: [{ name: 'main', image: 'i', resources }] },
  });

  it('C19: admits exactly as many of parallel Pods as the quota allows', async () => {
    const namespace = await fixture.newNamespace('quota');
    await client
      .for(ResourceQuotas)
      .create({ metadata: { name: 'q' }, spec: { hard: { pods: '3' } } }, { namespace });
    expect(await outcome(client.for(Pods).create(pod('early'), { namespace }))).toBe('admitted');
    await server.stores.for(ResourceQuotas).modify('q', namespace, (quota) => ({
      ...quota,
      status: { hard: { pods: '3' }, used: { pods: '0' } },
    }));
    const outcomes = await Promise.all(
      Array.from({ length: 10 }, (_, i) => outcome(client.for(Pods).create(pod(`p${i}`), { namespace }))),
    );
    expect(outcomes.filter((text) => text === 'admitted')).toHaveLength(3);
    const refused = outcomes.find((text) => text !== 'admitted');
    expect(refused).toMatch(
      /^pods "p\d" is forbidden: exceeded quota: q, requested: pods=1, used: pods=3, limited: pods=3$/,
    );
  });

  it('C19: wants every container to state what a quota limits', async () => {
    const namespace = await fixture.newNamespace('stated');
    await client
      .for(ResourceQuotas)
      .create({ metadata: { name: 'q' }, spec: { hard: { 'requests.cpu': '1' } } }, { namespace });
    await server.stores.for(ResourceQuotas).modify('q', namespace, (quota) => ({
      ...quota,
      status: { hard: { 'requests.cpu': '1' }, used: { 'requests.cpu': '0' } },
    }));
    expect(await outcome(client.for(Pods).create(pod('a'), { namespace }))).toBe(
      'pods "a" is forbidden: failed quota: q: must specify requests.cpu for: main',
    );
    expect(
      await outcome(client.for(Pods).create(pod('b', { requests: { cpu: '600m' } }), { namespace })),
    ).toBe('admitted');
    expect(
      await outcome(client.for(Pods).create(pod('c', { requests: { cpu: '600m' } }), { namespace })),
    ).toBe(
      'pods "c" is forbidden: exceeded quota: q, requested: requests.cpu=600m, used: requests.cpu=600m, limited: requests.cpu=1',
    );
  });

  it('creates nothing in a namespace that is missing or going, and keeps the first ones', async () => {
    expect(await outcome(fixture.createConfigMap('nowhere', 'a'))).toBe('namespaces "nowhere" not found');
    expect(await outcome(client.for(Namespaces).delete('kube-system'))).toBe(
      'namespaces "kube-system" is forbidden: this namespace may not be deleted',
    );
    await fixture.newNamespace('going');
    await client.for(Namespaces).delete('going');
    expect(await outcome(fixture.createConfigMap('going', 'a'))).toBe(
      'configmaps "a" is forbidden: unable to create new content in namespace going because it is being terminated',
    );
  });

  it('waits a moment for the default account of a new namespace', async () => {
    await client.for(Namespaces).create({ metadata: { name: 'young' }, spec: {} });
    const creating = outcome(client.for(Pods).create(pod('a'), { namespace: 'young' }));
    await client.for(ServiceAccounts).create({ metadata: { name: 'default' } }, { namespace: 'young' });
    expect(await creating).toBe('admitted');
    expect(
      await outcome(
        client
          .for(Pods)
          .create(
            { ...pod('b'), spec: { ...pod('b').spec, serviceAccountName: 'x' } },
            { namespace: 'young' },
          ),
      ),
    ).toBe('pods "b" is forbidden: error looking up service account young/x: serviceaccount "x" not found');
  });

  it('knows what has no name yet by its generateName', async () => {
    const namespace = await fixture.newNamespace('unnamed');
    const spec = { containers: [{ name: 'c', image: 'i' }], priorityClassName: 'none' };
    const create = client.for(Pods).create({ metadata: { generateName: 'web-' }, spec }, { namespace });
    expect(await outcome(create)).toBe('pods "web-" is forbidden: no PriorityClass with name none was found');
  });

  describe('webhooks', () => {
    let webhook: Server;
    let url: string;
    const seen: { operation: string; name: string; userInfo: { username: string } }[] = [];
    let caBundle: string;

    beforeAll(async () => {
      const pair = await issueCertificate(server.ca, {
        commonName: 'webhook',
        ipAddresses: ['127.0.0.1'],
        usages: ['serverAuth'],
        now: Date.now(),
      });
      caBundle = Buffer.from(server.ca.certificate).toString('base64');
      webhook = createServer({ cert: pair.certificate, key: pair.key }, (request, response) => {
        const chunks: Buffer[] = [];
        request.on('data', (chunk: Buffer) => chunks.push(chunk));
        request.on('end', () => {
          const review = JSON.parse(Buffer.concat(chunks).toString('utf8')) as {
            request: { uid: string; operation: string; name: string; userInfo: { username: string } };
          };
          seen.push(review.request);
          const { uid } = review.request;
          const patch = Buffer.from('[{"op":"add","path":"/data/added","value":"yes"}]').toString('base64');
          const answer = request.url?.startsWith('/deny')
            ? { uid, allowed: false, status: { code: 418, message: 'not today' } }
            : { uid, allowed: true, patchType: 'JSONPatch', patch, warnings: ['be careful'] };
          response.writeHead(200, { 'content-type': 'application/json' });
          response.end(
            JSON.stringify({ kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1', response: answer }),
          );
        });
      });
      await new Promise<void>((resolve) => webhook.listen(0, '127.0.0.1', () => resolve()));
      url = `https://127.0.0.1:${(webhook.address() as AddressInfo).port}`;
    });
    afterAll(() => {
      webhook.close();
      webhook.closeAllConnections();
    });

    const configuration = (
      namespace: string,
      more: { path: string; failurePolicy?: 'Fail' | 'Ignore'; url?: string },
    ) => ({
      metadata: { name: namespace },
      webhooks: [
        {
          name: `${namespace}.example.com`,
          admissionReviewVersions: ['v1'],
          sideEffects: 'None' as const,
          failurePolicy: more.failurePolicy ?? ('Fail' as const),
          clientConfig: { url: `${more.url ?? url}${more.path}`, caBundle },
          rules: [rule(['CREATE'], ['configmaps'])],
          namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
          matchConditions: [{ name: 'n', expression: "object.metadata.name != 'skipped'" }],
        },
      ],
    });

    it('apply the patches of those that admit', async () => {
      const namespace = await fixture.newNamespace('patched');
      await client.for(MutatingWebhookConfigurations).create(configuration(namespace, { path: '/patch' }));
      expect((await fixture.createConfigMap(namespace, 'a', { x: '1' })).data).toEqual({
        x: '1',
        added: 'yes',
      });
      expect((await fixture.createConfigMap(namespace, 'skipped', { x: '1' })).data).toEqual({ x: '1' });
      expect(seen[seen.length - 1]).toMatchObject({
        operation: 'CREATE',
        name: 'a',
        userInfo: { username: 'kubernetes-admin' },
      });
    });

    it('refuse in the words of those that deny', async () => {
      const namespace = await fixture.newNamespace('denied');
      await client.for(ValidatingWebhookConfigurations).create(configuration(namespace, { path: '/deny' }));
      expect(await outcome(fixture.createConfigMap(namespace, 'a'))).toBe(
        'admission webhook "denied.example.com" denied the request: not today',
      );
    });

    it('fail or are ignored when nobody answers, as their failure policy says', async () => {
      const nobody = 'https://127.0.0.1:1';
      const strict = await fixture.newNamespace('strict');
      await client
        .for(ValidatingWebhookConfigurations)
        .create(configuration(strict, { path: '/', url: nobody }));
      expect(await outcome(fixture.createConfigMap(strict, 'a'))).toMatch(
        /^Internal error occurred: failed calling webhook "strict.example.com": failed to call webhook: Post "https:\/\/127.0.0.1:1\/\?timeout=10s": dial tcp 127.0.0.1:1: connect: connection refused$/,
      );
      const lax = await fixture.newNamespace('lax');
      await client
        .for(ValidatingWebhookConfigurations)
        .create(configuration(lax, { path: '/', url: nobody, failurePolicy: 'Ignore' }));
      expect(await outcome(fixture.createConfigMap(lax, 'a'))).toBe('admitted');
    });

    it('name the Service that is not there', async () => {
      const namespace = await fixture.newNamespace('serviceless');
      const [webhook] = configuration(namespace, { path: '/' }).webhooks;
      await client.for(ValidatingWebhookConfigurations).create({
        metadata: { name: namespace },
        webhooks: [
          {
            name: 'w.example.com',
            admissionReviewVersions: ['v1'],
            sideEffects: 'None',
            rules: webhook?.rules,
            namespaceSelector: webhook?.namespaceSelector,
            clientConfig: { service: { namespace, name: 'hook', path: '/check' }, caBundle },
          },
        ],
      });
      expect(await outcome(fixture.createConfigMap(namespace, 'a'))).toBe(
        'Internal error occurred: failed calling webhook "w.example.com": failed to call webhook: Post "https://hook.serviceless.svc:443/check?timeout=10s": service "hook" not found',
      );
    });
  });
});
