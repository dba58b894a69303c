import {
  CustomResourceDefinitions,
  type ClusterTrustBundleProjection,
  type KubeObject,
  type ResourceDescriptor,
} from '@tinkernetes/api';
import { createClient, type Client } from '@tinkernetes/client';
import { eventually } from '@tinkernetes/component-base/testing';
import { startApiServer, type TestApiServer } from '@tinkernetes/testing';
import { TrustBundles } from './trust-bundles';

const pem = (text: string) => `-----BEGIN CERTIFICATE-----\n${text}\n-----END CERTIFICATE-----\n`;
const bundles: ResourceDescriptor<KubeObject & { spec: object }> = {
  group: 'certificates.k8s.io',
  version: 'v1beta1',
  resource: 'clustertrustbundles',
  kind: 'ClusterTrustBundle',
  namespaced: false,
};

describe('TrustBundles', () => {
  let server: TestApiServer;
  let client: Client;

  beforeAll(async () => {
    server = await startApiServer();
    client = createClient(server.adminConfig);
    // The API is off by default: a definition stands in for it.
    await client.for(CustomResourceDefinitions).create({
      metadata: {
        name: 'clustertrustbundles.certificates.k8s.io',
        annotations: { 'api-approved.kubernetes.io': 'unapproved, for a test' },
      },
      spec: {
        group: bundles.group,
        scope: 'Cluster',
        names: { plural: bundles.resource, singular: 'clustertrustbundle', kind: bundles.kind },
        versions: [
          {
            name: bundles.version,
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
          },
        ],
      },
    });
    const create = (name: string, signerName: string, trustBundle: string) =>
      client.for(bundles).create({ metadata: { name, labels: { name } }, spec: { signerName, trustBundle } });
    await eventually(() => create('one', 'example.com/a', `a comment\n${pem('B')}${pem('A')}`));
    await create('two', 'example.com/a', pem('A') + pem('C'));
    await create('other', 'example.com/b', pem('D'));
  });
  afterAll(async () => {
    client.close();
    await server.stop();
  });
  const read = (projection: Omit<ClusterTrustBundleProjection, 'path'>) =>
    new TrustBundles(client).read({ path: 'ca.pem', ...projection });

  it.each<[string, Omit<ClusterTrustBundleProjection, 'path'>, string]>([
    ['by name, certificates only', { name: 'one' }, pem('A') + pem('B')],
    [
      'by signer, each once',
      { signerName: 'example.com/a', labelSelector: {} },
      pem('A') + pem('B') + pem('C'),
    ],
    [
      'by signer and labels',
      { signerName: 'example.com/a', labelSelector: { matchLabels: { name: 'two' } } },
      pem('A') + pem('C'),
    ],
    ['none by a name that may be absent', { name: 'absent', optional: true }, ''],
    ['none without a selector, where none are needed', { signerName: 'example.com/a', optional: true }, ''],
  ])('gives certificates %s', async (_how, projection, expected) => {
    expect(await read(projection)).toBe(expected);
  });

  it.each<[Omit<ClusterTrustBundleProjection, 'path'>, string]>([
    [
      { name: 'absent' },
      'error while getting ClusterTrustBundle: clustertrustbundles.certificates.k8s.io "absent" not found',
    ],
    [
      { signerName: 'example.com/c', labelSelector: {} },
      'combination of signerName and labelSelector matched zero ClusterTrustBundles',
    ],
  ])('fails for %j', async (projection, message) => {
    await expect(read(projection)).rejects.toThrow(message);
  });
});
