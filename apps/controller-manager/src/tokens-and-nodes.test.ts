import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  ConfigMaps,
  IPAddresses,
  Nodes,
  Secrets,
  ServiceAccounts,
  ServiceCIDRs,
  Services,
} from '@tinkernetes/api';
import { findCondition, isNotFound } from '@tinkernetes/apimachinery';
import { createClient } from '@tinkernetes/client';
import { eventually } from '@tinkernetes/component-base/testing';
import { createServiceAccountKeyPair } from '@tinkernetes/pki';
import { fastTime, ScaledClock } from './testing/scaled-clock';
import { startTestManager, type TestManager } from './testing/test-manager';

// A busy machine takes its time; a condition that is not met says so itself, and earlier.
const namespace = 'default';
let manager: TestManager;
let clock: ScaledClock;
const directory = mkdtempSync(join(tmpdir(), 'tk-tokens-'));

beforeAll(async () => {
  const keys = await createServiceAccountKeyPair();
  const file = (name: string, text: string) => {
    writeFileSync(join(directory, name), text);
    return join(directory, name);
  };
  clock = new ScaledClock();
  manager = await startTestManager({
    clock,
    serverFlags: [`--service-account-key-file=${file('sa.pub', keys.publicKey)}`],
    args: [
      '--controllers=*,bootstrap-signer-controller,token-cleaner-controller',
      `--service-account-private-key-file=${file('sa.key', keys.privateKey)}`,
      `--root-ca-file=${file('ca.crt', 'the authority')}`,
    ],
  });
});
afterAll(async () => {
  await manager?.stop();
  await clock?.stop();
  rmSync(directory, { recursive: true, force: true });
});
const isGone = (get: Promise<unknown>) => get.then(() => false, isNotFound);

describe('serviceaccount-token-controller', () => {
  it('fills a Secret with a token that authenticates as the account, and deletes it with the account', async () => {
    const { client, server } = manager;
    await client.for(ServiceAccounts).create({ metadata: { name: 'robot' } }, { namespace });
    await client.for(Secrets).create(
      {
        metadata: { name: 'robot-token', annotations: { 'kubernetes.io/service-account.name': 'robot' } },
        type: 'kubernetes.io/service-account-token',
      },
      { namespace },
    );
    const data = await eventually(async () => {
      const secret = await client.for(Secrets).get('robot-token', { namespace });
      expect(Object.keys(secret.data ?? {}).sort()).toEqual(['ca.crt', 'namespace', 'token']);
      return secret.data ?? {};
    });
    const text = (key: string) => Buffer.from(data[key] ?? '', 'base64').toString();
    expect([text('namespace'), text('ca.crt')]).toEqual([namespace, 'the authority']);
    const { caData, server: url } = server.adminConfig;
    const robot = createClient({ server: url, caData, token: text('token'), userAgent: 'test' });
    const review = await robot.request<{ status: { userInfo: { username: string } } }>({
      method: 'POST',
      path: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
      body: { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
    });
    robot.close();
    expect(review.status.userInfo.username).toBe('system:serviceaccount:default:robot');
    await client.for(ServiceAccounts).delete('robot', { namespace });
    await eventually(async () =>
      expect(await isGone(client.for(Secrets).get('robot-token', { namespace }))).toBe(true),
    );
  });
});

describe('bootstrap-signer and token-cleaner', () => {
  const token = (id: string, expiration?: string) => ({
    metadata: { name: `bootstrap-token-${id}` },
    type: 'bootstrap.kubernetes.io/token',
    stringData: {
      'token-id': id,
      'token-secret': '0123456789abcdef',
      'usage-bootstrap-signing': 'true',
      ...(expiration ? { expiration } : {}),
    },
  });
  const signatures = async () => {
    const map = await manager.client.for(ConfigMaps).get('cluster-info', { namespace: 'kube-public' });
    return Object.keys(map.data ?? {}).filter((key) => key.startsWith('jws-kubeconfig-'));
  };

  it('sign cluster-info with each token, and forget a token when it expires', async () => {
    const { client } = manager;
    await client.for(Secrets).create(token('aaaaaa'), { namespace: 'kube-system' });
    const soon = new Date(clock.now() + 3600_000).toISOString();
    await client.for(Secrets).create(token('bbbbbb', soon), { namespace: 'kube-system' });
    await client
      .for(ConfigMaps)
      .create(
        { metadata: { name: 'cluster-info' }, data: { kubeconfig: 'x' } },
        { namespace: 'kube-public' },
      );
    await eventually(async () =>
      expect(await signatures()).toEqual(['jws-kubeconfig-aaaaaa', 'jws-kubeconfig-bbbbbb']),
    );
    clock.speed = 60_000;
    await eventually(async () => expect(await signatures()).toEqual(['jws-kubeconfig-aaaaaa']), fastTime);
    await clock.slowDown();
    await eventually(async () =>
      expect(
        await isGone(client.for(Secrets).get('bootstrap-token-bbbbbb', { namespace: 'kube-system' })),
      ).toBe(true),
    );
  });
});

describe('service-cidr-controller', () => {
  const readyOf = async (name: string) =>
    findCondition((await manager.client.for(ServiceCIDRs).get(name)).status?.conditions, 'Ready');

  it('makes a range ready, keeps it while an address is only in it, and lets it go then', async () => {
    const { client } = manager;
    await client
      .for(ServiceCIDRs)
      .create({ metadata: { name: 'extra' }, spec: { cidrs: ['10.200.0.0/28'] } });
    await eventually(async () => {
      expect(await readyOf('extra')).toMatchObject({
        status: 'True',
        message: 'Kubernetes Service CIDR is ready',
      });
      expect((await client.for(ServiceCIDRs).get('extra')).metadata.finalizers).toEqual([
        'networking.k8s.io/service-cidr-finalizer',
      ]);
    });
    // Its addresses are given out from now on.
    const ports = [{ port: 80 }];
    await client
      .for(Services)
      .create({ metadata: { name: 'pinned' }, spec: { clusterIP: '10.200.0.5', ports } }, { namespace });
    expect((await client.for(IPAddresses).get('10.200.0.5')).spec?.parentRef?.name).toBe('pinned');
    await client.for(ServiceCIDRs).delete('extra');
    await eventually(async () =>
      expect(await readyOf('extra')).toMatchObject({ status: 'False', reason: 'Terminating' }),
    );
    await client.for(Services).delete('pinned', { namespace });
    clock.speed = 100;
    await eventually(
      async () => expect(await isGone(client.for(ServiceCIDRs).get('extra'))).toBe(true),
      fastTime,
    );
    await clock.slowDown();
  });
});

describe('ttl-controller', () => {
  it('tells a node for how long it may keep Secrets', async () => {
    const { client } = manager;
    await client.for(Nodes).create({ metadata: { name: 'n1' }, spec: {} });
    await eventually(async () => {
      const { annotations } = (await client.for(Nodes).get('n1')).metadata;
      expect(annotations).toMatchObject({ 'node.alpha.kubernetes.io/ttl': '0' });
    });
  });
});
