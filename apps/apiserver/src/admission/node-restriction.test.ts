import { createCertificateSigningRequest } from '@tinkernetes/pki';
import type { AdmissionAttributes, StoreRegistry } from '../contracts';
import { nodeRestrictionPlugin } from './node-restriction';

const plugin = nodeRestrictionPlugin({} as StoreRegistry);
const serving = 'kubernetes.io/kubelet-serving';
const toServer = 'kubernetes.io/kube-apiserver-client-kubelet';

/** As the kubelet of n1 asks for it. */
async function admit(signerName: string, commonName: string): Promise<void> {
  const { request } = await createCertificateSigningRequest({ commonName });
  const attributes: AdmissionAttributes = {
    operation: 'CREATE',
    group: 'certificates.k8s.io',
    version: 'v1',
    resource: 'certificatesigningrequests',
    subresource: '',
    kind: 'CertificateSigningRequest',
    namespace: '',
    name: 'r',
    object: {
      metadata: { name: 'r' },
      spec: { signerName, request: Buffer.from(request).toString('base64') },
    } as AdmissionAttributes['object'],
    oldObject: undefined,
    options: {},
    user: { name: 'system:node:n1', groups: ['system:nodes'] },
    dryRun: false,
    warn: () => undefined,
  };
  expect(plugin.handles(attributes)).toBe(true);
  await plugin.validate?.(attributes);
}

it.each([
  [serving, 'system:node:n1'],
  [toServer, 'system:node:n1'],
  ['example.com/any', 'whoever'],
])('lets a kubelet ask %s for a certificate of %s', async (signer, name) => {
  await admit(signer, name);
});

it.each([
  [serving, 'system:node:n2'],
  [toServer, 'system:node:n2'],
  [toServer, 'jane'],
])("doesn't let a kubelet ask %s for a certificate of %s", async (signer, name) => {
  await expect(admit(signer, name)).rejects.toThrow('can only create a node CSR with CN=system:node:n1');
});
