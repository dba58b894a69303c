import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCertificateSigningRequest } from '@tinkernetes/pki';
import { useCluster } from '../../harness/cluster-fixture';

/** Signing requests: approved, signed, refused. */
const { run, attempt, apply, read, until } = useCluster([
  '--nodes=1',
  '--storage=memory',
  '--without=cluster-dns,kube-proxy',
]);
const directory = mkdtempSync(join(tmpdir(), 'tk-certificates-'));
afterAll(() => rmSync(directory, { recursive: true }));

const client = ['digital signature', 'key encipherment', 'client auth'];
const node = { commonName: 'system:node:node-1', organizations: ['system:nodes'] };
const signingRequest = (name: string, signerName: string, pem: string, usages = client) => ({
  apiVersion: 'certificates.k8s.io/v1',
  kind: 'CertificateSigningRequest',
  metadata: { name },
  spec: { signerName, usages, request: Buffer.from(pem).toString('base64') },
});
const forUsers = 'kubernetes.io/kube-apiserver-client';
const row = (name: string) => run(`get csr ${name} --no-headers`);
const certificateOf = (name: string) =>
  until(async () => {
    const certificate = await read(`csr/${name}`, '{.status.certificate}');
    expect(certificate).not.toBe('');
    return Buffer.from(certificate, 'base64').toString();
  });
/** As kubeconfig's user of that name, who is `name` to the server from now on. */
async function addUser(name: string, certificate: string, key: string): Promise<void> {
  const file = (extension: string, text: string) => {
    const path = join(directory, `${name}.${extension}`);
    writeFileSync(path, text);
    return path;
  };
  const paths = [`--client-certificate=${file('crt', certificate)}`, `--client-key=${file('key', key)}`];
  await run(['config', 'set-credentials', name, ...paths]);
}

it('a user: is who the certificate says, once somebody has approved it', async () => {
  const { request, key } = await createCertificateSigningRequest({
    commonName: 'jane',
    organizations: ['dev'],
  });
  await apply(signingRequest('jane', forUsers, request));
  expect(await row('jane')).toMatch(/ Pending\n$/);
  await run('certificate approve jane');
  await addUser('jane', await certificateOf('jane'), key);
  expect(await row('jane')).toMatch(/ Approved,Issued\n$/);
  expect(await read('csr/jane', '{.status.conditions[0].reason}')).toBe('KubectlApprove');
  const who = JSON.parse(await run('auth whoami -o json --user=jane')) as {
    status: { userInfo: { username: string; groups: string[] } };
  };
  expect(who.status.userInfo).toMatchObject({ username: 'jane', groups: ['dev', 'system:authenticated'] });
  expect((await attempt('get pods --user=jane')).stderr).toContain('User "jane" cannot list resource "pods"');
  await run('create rolebinding jane --clusterrole=view --group=dev');
  await until(() => run('get pods --user=jane'));
});

it('a user: asks for a time, and gets it', async () => {
  const { request } = await createCertificateSigningRequest({ commonName: 'brief' });
  const asked = signingRequest('brief', forUsers, request, ['client auth']);
  await apply({ ...asked, spec: { ...asked.spec, expirationSeconds: 3600 } });
  await run('certificate approve brief');
  const certificate = new X509Certificate(await certificateOf('brief'));
  const seconds = (Date.parse(certificate.validTo) - Date.parse(certificate.validFrom)) / 1000;
  expect(seconds).toBeLessThanOrEqual(3900);
  expect(certificate.keyUsage).toEqual(['1.3.6.1.5.5.7.3.2']);
});

it('denied, of an unknown signer, or not what the signer signs: no certificate, and others go on', async () => {
  const { request } = await createCertificateSigningRequest({ commonName: 'joe' });
  await apply(
    signingRequest('denied', forUsers, request),
    signingRequest('foreign', 'example.com/signer', request),
    signingRequest('serves', forUsers, request, ['server auth']),
    signingRequest('no-node', 'kubernetes.io/kubelet-serving', request, ['server auth']),
    signingRequest('good', forUsers, request),
  );
  await run('certificate deny denied');
  await run('certificate approve foreign serves no-node good');
  await certificateOf('good');
  const failure =
    '{.status.conditions[?(@.type=="Failed")].reason}: {.status.conditions[?(@.type=="Failed")].message}';
  await until(async () => {
    expect(await read('csr/serves', failure)).toBe(
      'SignerValidationFailure: invalid usage for client certificate: server auth',
    );
    expect(await read('csr/no-node', failure)).toBe(
      'SignerValidationFailure: subject organization is not system:nodes',
    );
  });
  expect(await row('serves')).toMatch(/ Approved,Failed\n$/);
  expect(await row('denied')).toMatch(/ Denied\n$/);
  expect(await row('foreign')).toMatch(/ Approved\n$/);
  const both = await attempt('certificate approve denied');
  expect(both.stderr).toContain('certificate signing request "denied" is already Denied');
});

it('garbage: is refused before any controller sees it', async () => {
  const refused = await attempt(
    'create -f -',
    JSON.stringify(signingRequest('garbage', forUsers, 'not PEM')),
  );
  expect(refused.stderr).toContain('PEM block type must be CERTIFICATE REQUEST');
});

it('a kubelet: has joined with a bootstrap token, and renews as its own node', async () => {
  const joined = '{range .items[?(@.spec.signerName=="kubernetes.io/kube-apiserver-client-kubelet")]}';
  const fields = '{.spec.username} {.status.conditions[0].reason} {.status.conditions[0].message}{end}';
  expect(await read('csr', joined + fields)).toMatch(
    /^system:bootstrap:\w+ AutoApproved Auto approving kubelet client certificate after SubjectAccessReview\.$/,
  );
  const { request, key } = await createCertificateSigningRequest(node);
  const renewal = signingRequest('renewal', 'kubernetes.io/kube-apiserver-client-kubelet', request);
  await run(`create -f - --as=${node.commonName} --as-group=system:nodes`, JSON.stringify(renewal));
  await addUser('node', await certificateOf('renewal'), key);
  expect(await read('csr/renewal', '{.status.conditions[0].message}')).toBe(
    'Auto approving self kubelet client certificate after SubjectAccessReview.',
  );
  expect(await run('get node node-1 -o name --user=node')).toBe('node/node-1\n');
});

it("a kubelet: gets its serving certificate when somebody has approved it, and no other node's", async () => {
  const names = { dnsNames: ['node-1'], ipAddresses: ['172.30.0.11'] };
  const usages = ['digital signature', 'server auth'];
  const { request } = await createCertificateSigningRequest({ ...node, ...names });
  const serving = signingRequest('serving', 'kubernetes.io/kubelet-serving', request, usages);
  const create = (object: object) =>
    attempt(`create -f - --as=${node.commonName} --as-group=system:nodes`, JSON.stringify(object));
  expect((await create(serving)).code).toBe(0);
  expect(await row('serving')).toMatch(/ Pending\n$/);
  await run('certificate approve serving');
  const certificate = new X509Certificate(await certificateOf('serving'));
  expect(certificate.subjectAltName).toBe('DNS:node-1, IP Address:172.30.0.11');
  expect(certificate.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1']);
  const other = await createCertificateSigningRequest({
    ...node,
    ...names,
    commonName: 'system:node:node-2',
  });
  const refused = await create(
    signingRequest('other', 'kubernetes.io/kubelet-serving', other.request, usages),
  );
  expect(refused.stderr).toContain('can only create a node CSR with CN=system:node:node-1');
});
