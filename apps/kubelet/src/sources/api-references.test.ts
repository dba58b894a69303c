import type { PodSpec } from '@tinkernetes/api';
import { apiReference } from './api-references';

const containers = [{ name: 'c', image: 'nginx' }];

it.each<[string | undefined, Partial<PodSpec>]>([
  [undefined, { volumes: [{ name: 'v', emptyDir: {} }], nodeName: 'n' }],
  [undefined, { volumes: [{ name: 'v', projected: { sources: [{ downwardAPI: { items: [] } }] } }] }],
  ['serviceaccounts', { serviceAccountName: 'sa' }],
  ['secrets', { imagePullSecrets: [{ name: 's' }] }],
  ['secrets', { containers: [{ name: 'c', envFrom: [{ secretRef: { name: 's' } }] }] }],
  [
    'configmaps',
    {
      initContainers: [
        { name: 'i', env: [{ name: 'E', valueFrom: { configMapKeyRef: { name: 'm', key: 'k' } } }] },
      ],
    },
  ],
  ['configmaps', { volumes: [{ name: 'v', configMap: { name: 'm' } }] }],
  ['persistentvolumeclaims', { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }] }],
  [
    'serviceaccounts',
    { volumes: [{ name: 'v', projected: { sources: [{ serviceAccountToken: { path: 'token' } }] } }] },
  ],
])('finds %s in %j', (resource, spec) => {
  expect(apiReference({ containers, ...spec })).toBe(resource);
});
