import { Namespaces, Pods, ServiceAccounts, type Toleration } from '@tinkernetes/api';
import { createClient, type Client } from '@tinkernetes/client';
import { startApiServer, type TestApiServer } from '@tinkernetes/testing';
import type { ServerDependencies } from '../contracts';
import { createAdmissionChain } from '.';

/** As kube-apiserver v1.36 lists them under --enable-admission-plugins, less those that need a configuration file. */
const upstreamNames = [
  'AlwaysAdmit',
  'NamespaceAutoProvision',
  'NamespaceLifecycle',
  'NamespaceExists',
  'LimitPodHardAntiAffinityTopology',
  'LimitRanger',
  'ServiceAccount',
  'NodeRestriction',
  'TaintNodesByCondition',
  'AlwaysPullImages',
  'PodSecurity',
  'PodNodeSelector',
  'Priority',
  'DefaultTolerationSeconds',
  'PodTolerationRestriction',
  'ExtendedResourceToleration',
  'DefaultStorageClass',
  'StorageObjectInUseProtection',
  'PodGroupProtection',
  'OwnerReferencesPermissionEnforcement',
  'PersistentVolumeClaimResize',
  'RuntimeClass',
  'CertificateApproval',
  'CertificateSigning',
  'ClusterTrustBundleAttest',
  'CertificateSubjectRestriction',
  'DefaultIngressClass',
  'DenyServiceExternalIPs',
  'PodTopologyLabels',
  'PodGroupWorkloadExists',
  'NodeDeclaredFeatureValidator',
  'JobValidation',
  'PodResizeValidator',
  'MutatingAdmissionPolicy',
  'MutatingAdmissionWebhook',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionWebhook',
  'ResourceQuota',
];

describe('--enable-admission-plugins', () => {
  const chainOf = (enabled: string[], disabled: string[] = []) =>
    createAdmissionChain({
      options: { enableAdmissionPlugins: enabled, disableAdmissionPlugins: disabled },
    } as unknown as Parameters<typeof createAdmissionChain>[0] & ServerDependencies);

  it.each([
    [['Nothing'], [], 'enable-admission-plugins plugin "Nothing" is unknown'],
    [[], ['Nothing'], 'disable-admission-plugins plugin "Nothing" is unknown'],
    [
      ['LimitRanger'],
      ['LimitRanger'],
      'LimitRanger in enable-admission-plugins and disable-admission-plugins overlapped',
    ],
    [
      ['EventRateLimit'],
      [],
      '--enable-admission-plugins=EventRateLimit: this plugin needs a configuration file, and is not implemented',
    ],
    [
      ['ImagePolicyWebhook'],
      [],
      '--enable-admission-plugins=ImagePolicyWebhook: this plugin needs a configuration file, and is not implemented',
    ],
  ])('refuses %j with %j disabled', (enabled, disabled, message) => {
    expect(() => chainOf(enabled, disabled)).toThrow(message);
  });
});

describe('a server with all of upstream’s plugins', () => {
  let server: TestApiServer;
  let client: Client;
  beforeAll(async () => {
    server = await startApiServer({ flags: [`--enable-admission-plugins=${upstreamNames.join(',')}`] });
    client = createClient(server.adminConfig);
  });
  afterAll(async () => {
    client.close();
    await server.stop();
  });

  async function newNamespace(name: string, annotations: Record<string, string>): Promise<void> {
    await client.for(Namespaces).create({ metadata: { name, annotations }, spec: {} });
    await client.for(ServiceAccounts).create({ metadata: { name: 'default' } }, { namespace: name });
  }
  const create = (namespace: string, tolerations: Toleration[], resources = {}) =>
    client
      .for(Pods)
      .create(
        {
          metadata: { generateName: 'p-' },
          spec: { tolerations, containers: [{ name: 'main', image: 'i', resources }] },
        } as never,
        { namespace },
      )
      .then(({ spec }) =>
        (spec?.tolerations ?? []).filter(({ key }) => !key?.endsWith('able') && !key?.endsWith('not-ready')),
      );

  it('adds the namespace’s tolerations to Pods, without those that others include', async () => {
    const added: Toleration = { key: 'team', operator: 'Equal', value: 'a', effect: 'NoSchedule' };
    await newNamespace('tolerant', {
      'scheduler.alpha.kubernetes.io/defaultTolerations': JSON.stringify([added]),
    });
    expect(await create('tolerant', [])).toEqual([added]);
    const wider: Toleration = { key: 'team', operator: 'Exists' };
    expect(await create('tolerant', [wider])).toEqual([wider]);
    expect(await create('tolerant', [], { requests: { cpu: '1' } })).toEqual([
      added,
      { key: 'node.kubernetes.io/memory-pressure', operator: 'Exists', effect: 'NoSchedule' },
    ]);
  });

  it('refuses tolerations that the namespace’s whitelist does not have', async () => {
    const allowed: Toleration[] = [
      { key: 'team', operator: 'Exists' },
      { key: 'node.kubernetes.io/not-ready', operator: 'Exists' },
      { key: 'node.kubernetes.io/unreachable', operator: 'Exists' },
    ];
    await newNamespace('listed', {
      'scheduler.alpha.kubernetes.io/tolerationsWhitelist': JSON.stringify(allowed),
    });
    const team: Toleration = { key: 'team', operator: 'Equal', value: 'a', effect: 'NoSchedule' };
    expect(await create('listed', [team])).toEqual([team]);
    await expect(create('listed', [{ key: 'other', operator: 'Exists' }])).rejects.toThrow(
      'pod tolerations (possibly merged with namespace default tolerations) conflict with its namespace whitelist',
    );
  });
});
