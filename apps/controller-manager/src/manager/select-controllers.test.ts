import { controllers } from './controllers';
import { selectControllers } from './select-controllers';
import type { ControllerDefinition } from './context';

const row = (name: string, extra: Partial<ControllerDefinition> = {}): ControllerDefinition => ({
  name,
  watches: [],
  writes: [],
  start: () => ({ run: () => Promise.resolve() }),
  ...extra,
});
const known = [
  row('foo'),
  row('bar'),
  row('off', { disabledByDefault: true }),
  { name: 'cloudy', watches: [], writes: [], absent: 'needs a cloud' },
];

describe('selectControllers', () => {
  it.each([
    [['*'], ['foo', 'bar']],
    [['*', '-foo'], ['bar']],
    [
      ['*', 'off', '-bar'],
      ['foo', 'off'],
    ],
    [['-foo', '*'], ['bar']],
    [['bar'], ['bar']],
    [['-foo'], []],
    [
      ['*', '-cloudy'],
      ['foo', 'bar'],
    ],
  ])('of %j chooses %j', (wanted, expected) =>
    expect(selectControllers(wanted, known).map(({ name }) => name)).toEqual(expected),
  );

  it('refuses a name that is not known, and one that is not implemented, with the reason', () => {
    expect(() => selectControllers(['fooo'], known)).toThrow(
      '"fooo" is not in the list of known controllers: foo, bar',
    );
    expect(() => selectControllers(['cloudy'], known)).toThrow('"cloudy" is not implemented: needs a cloud');
  });
});

describe('controllers', () => {
  // Source: k8s.io/kubernetes/cmd/kube-controller-manager/names, v1.36.
  it.each([
    'serviceaccount-token-controller',
    'endpoints-controller',
    'endpointslice-controller',
    'endpointslice-mirroring-controller',
    'replicationcontroller-controller',
    'pod-garbage-collector-controller',
    'resourcequota-controller',
    'namespace-controller',
    'serviceaccount-controller',
    'garbage-collector-controller',
    'daemonset-controller',
    'job-controller',
    'deployment-controller',
    'replicaset-controller',
    'horizontal-pod-autoscaler-controller',
    'disruption-controller',
    'statefulset-controller',
    'cronjob-controller',
    'certificatesigningrequest-signing-controller',
    'certificatesigningrequest-approving-controller',
    'certificatesigningrequest-cleaner-controller',
    'podcertificaterequest-cleaner-controller',
    'ttl-controller',
    'bootstrap-signer-controller',
    'token-cleaner-controller',
    'node-ipam-controller',
    'node-lifecycle-controller',
    'taint-eviction-controller',
    'device-taint-eviction-controller',
    'persistentvolume-binder-controller',
    'persistentvolume-attach-detach-controller',
    'persistentvolume-expander-controller',
    'clusterrole-aggregation-controller',
    'persistentvolumeclaim-protection-controller',
    'persistentvolume-protection-controller',
    'ttl-after-finished-controller',
    'root-ca-certificate-publisher-controller',
    'kube-apiserver-serving-clustertrustbundle-publisher-controller',
    'ephemeral-volume-controller',
    'storageversion-garbage-collector-controller',
    'resourceclaim-controller',
    'legacy-serviceaccount-token-cleaner-controller',
    'validatingadmissionpolicy-status-controller',
    'volumeattributesclass-protection-controller',
    'service-cidr-controller',
    'storage-version-migrator-controller',
    'selinux-warning-controller',
    'service-lb-controller',
    'node-route-controller',
    'cloud-node-lifecycle-controller',
  ])('has %s, which runs or says why it does not', (name) => {
    const rows = controllers.filter((c) => c.name === name);
    expect(
      rows.map(({ start, absent }) => [start !== undefined, absent !== undefined].filter(Boolean)),
    ).toEqual([[true]]);
  });
});
