import type { Pod, PersistentVolumeClaimSpec, Volume } from '@tinkernetes/api';
import { ephemeralClaim, ephemeralClaimName } from './ephemeral-volume-controller';

const spec: PersistentVolumeClaimSpec = {
  accessModes: ['ReadWriteOnce'],
  resources: { requests: { storage: '1Gi' } },
};
const scratch: Volume = {
  name: 'scratch',
  ephemeral: { volumeClaimTemplate: { metadata: { name: '', labels: { a: 'b' } }, spec } },
};
const pod: Pod = {
  metadata: { name: 'web-0', namespace: 'default', uid: 'u' },
  spec: { containers: [], volumes: [scratch] },
};

it("is called after its Pod and volume, has the template's labels, and goes with the Pod", () => {
  expect(ephemeralClaimName(pod, scratch)).toBe('web-0-scratch');
  expect(ephemeralClaim(pod, scratch)).toEqual({
    metadata: {
      name: 'web-0-scratch',
      namespace: 'default',
      labels: { a: 'b' },
      ownerReferences: [
        {
          ...{ apiVersion: 'v1', kind: 'Pod', name: 'web-0', uid: 'u' },
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    },
    spec,
  });
});

it.each<[string, Volume]>([
  ['of another kind', { name: 'v', emptyDir: {} }],
  ['that name a claim', { name: 'v', persistentVolumeClaim: { claimName: 'c' } }],
])('is not made for volumes %s', (_, volume) => {
  expect(ephemeralClaim(pod, volume)).toBeUndefined();
});
