import { CertificateSigningRequests, Leases, Nodes } from '@tinkernetes/api';
import { eventually } from '@tinkernetes/component-base/testing';
import { signCertificateSigningRequest } from '@tinkernetes/pki';
import { kubeconfigText } from '@tinkernetes/testing';
import { X509Certificate } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { KubeletFixture, nodeName } from '../testing/kubelet-fixture';

describe('TLS bootstrap', () => {
  let kubelet: KubeletFixture;

  beforeAll(async () => {
    kubelet = await KubeletFixture.create();
    const { apiServer, directory } = kubelet;
    await rm(join(directory, 'kubeconfig'));
    const bootstrap = await apiServer.configFor(
      'system:bootstrap:abcdef',
      'system:bootstrappers',
      'system:masters',
    );
    await writeFile(join(directory, 'bootstrap-kubeconfig'), kubeconfigText(bootstrap));
  });
  afterAll(() => kubelet.close());

  const flags = () => [`--bootstrap-kubeconfig=${join(kubelet.directory, 'bootstrap-kubeconfig')}`];
  const certificateFile = () => join(kubelet.directory, 'root/pki/kubelet-client-current.pem');

  /** What the certificate controllers do. */
  async function approveAndSign(durationMs?: number): Promise<string> {
    const requests = kubelet.client.for(CertificateSigningRequests);
    const request = await eventually(async () => {
      const first = (await requests.list()).items.find((r) => !r.status?.certificate);
      if (!first) throw new Error('no request yet');
      return first;
    });
    const certificate = await signCertificateSigningRequest(kubelet.apiServer.ca, {
      request: Buffer.from(request.spec.request, 'base64').toString(),
      usages: ['clientAuth'],
      now: Date.now(),
      durationMs,
    });
    await requests.patch(
      request.metadata.name,
      { status: { certificate: Buffer.from(certificate).toString('base64') } },
      { type: 'merge', subresource: 'status' },
    );
    return JSON.stringify(request.spec);
  }

  it('asks for a client certificate, keeps it, and registers the node with it', async () => {
    const started = kubelet.start(flags());
    const spec = await approveAndSign();
    expect(spec).toContain('kubernetes.io/kube-apiserver-client-kubelet');
    await started;
    await eventually(() => kubelet.client.for(Nodes).get(nodeName));
    const certificate = new X509Certificate(await readFile(certificateFile()));
    expect(certificate.subject).toContain(`CN=system:node:${nodeName}`);
    expect(certificate.subject).toContain('O=system:nodes');
  });

  it('starts the next time without asking', async () => {
    await kubelet.stop();
    const before = await readFile(certificateFile(), 'utf8');
    await kubelet.start(flags());
    expect(await readFile(certificateFile(), 'utf8')).toBe(before);
    expect((await kubelet.client.for(CertificateSigningRequests).list()).items).toHaveLength(1);
  });

  it('renews its certificate before it expires, and goes on with the new one', async () => {
    await kubelet.stop();
    await rm(join(kubelet.directory, 'kubeconfig'));
    const started = kubelet.start([...flags(), '--node-status-update-frequency=200ms']);
    await approveAndSign(5000);
    await started;
    const first = await readFile(certificateFile(), 'utf8');
    expect(await approveAndSign()).toContain('kubernetes.io/kube-apiserver-client-kubelet');
    await eventually(async () => expect(await readFile(certificateFile(), 'utf8')).not.toBe(first));
    const renewed = () =>
      kubelet.client
        .for(Leases)
        .get(nodeName, { namespace: 'kube-node-lease' })
        .then((lease) => Date.parse(String(lease.spec?.renewTime)));
    const expiry = Date.parse(new X509Certificate(first).validTo);
    await eventually(async () => expect(await renewed()).toBeGreaterThan(expiry));
  });
});
