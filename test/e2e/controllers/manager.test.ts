import { spawnSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { join } from 'node:path';
import { createCertificateSigningRequest } from '@tinkernetes/pki';
import { useCluster } from '../../harness/cluster-fixture';

/** Which controllers run, as whom, and those that keep accounts, roles and tokens. */
const fixture = useCluster([
  '--nodes=1',
  '--storage=memory',
  '--without=cluster-dns,kube-proxy',
  '--extra-config=controller-manager.controllers=*,-job-controller,bootstrap-signer-controller,token-cleaner-controller',
  '--extra-config=controller-manager.concurrent-deployment-syncs=1',
]);
const { run, attempt, apply, read, until } = fixture;
const runner = join(__dirname, '../../../dist/run.cjs');
const isGone = async (resource: string) =>
  expect((await attempt(`get ${resource}`)).stderr).toContain('not found');

it('--controllers: one that is left out does nothing, the others work; a name that nobody has is refused', async () => {
  await run('create job idle --image=busybox -- true');
  await run('create deployment busy --image=nginx');
  await run('rollout status deployment/busy --timeout=120s');
  expect(await read('job/idle', '{.status}')).toBe('{}');
  const args = [
    `--data-dir=${fixture.cluster.dataDir}`,
    '--extra-config=controller-manager.controllers=ghost',
  ];
  const refused = spawnSync(process.execPath, [runner, 'tinkernetes', 'run', 'controller-manager', ...args], {
    encoding: 'utf8',
  });
  expect(refused.status).not.toBe(0);
  expect(refused.stderr).toContain('"ghost" is not in the list of known controllers');
});

it('--use-service-account-credentials: each controller may do what its own account may', async () => {
  const binding = 'system:controller:endpoint-controller';
  await run(`delete clusterrolebinding ${binding}`);
  await run('create service clusterip barred --tcp=80');
  await run(['patch', 'service', 'barred', '-p', '{"spec":{"selector":{"app":"busy"}}}']);
  const slices = 'endpointslices -l kubernetes.io/service-name=barred';
  await until(async () => expect(await read(slices, '{.items[0].endpoints[0].addresses[0]}')).not.toBe(''));
  await isGone('endpoints barred');
  const account = 'kube-system:endpoint-controller';
  await run(`create clusterrolebinding ${binding} --clusterrole=${binding} --serviceaccount=${account}`);
  await until(() => read('endpoints/barred', '{.metadata.uid}'));
  const writers = '{range .metadata.managedFields[*]}{.manager} {.operation} {.subresource}{"\\n"}{end}';
  const lines = (await read('deployment/busy --show-managed-fields', writers)).split('\n');
  expect(lines).toContain('kube-controller-manager Update status');
});

it('bootstrap tokens: sign cluster-info, let a node join, and go when they have expired', async () => {
  const secret = (id: string, expiration: Date) => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: `bootstrap-token-${id}`, namespace: 'kube-system' },
    type: 'bootstrap.kubernetes.io/token',
    stringData: {
      'token-id': id,
      'token-secret': '0123456789abcdef',
      'usage-bootstrap-signing': 'true',
      'usage-bootstrap-authentication': 'true',
      'auth-extra-groups': 'system:bootstrappers:kubeadm:default-node-token',
      expiration: expiration.toISOString().replace(/\.\d+Z/, 'Z'),
    },
  });
  const kubeconfig = 'apiVersion: v1\nkind: Config\n';
  await apply(secret('aaaaaa', new Date(Date.now() + 3600_000)), {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'cluster-info', namespace: 'kube-public' },
    data: { kubeconfig },
  });
  const signature = (id: string) => read('cm/cluster-info -n kube-public', `{.data.jws-kubeconfig-${id}}`);
  await until(async () => {
    const [header = '', payload, mac] = (await signature('aaaaaa')).split('.');
    expect(JSON.parse(Buffer.from(header, 'base64url').toString())).toEqual({ alg: 'HS256', kid: 'aaaaaa' });
    expect(payload).toBe('');
    const signed = `${header}.${Buffer.from(kubeconfig).toString('base64url')}`;
    expect(mac).toBe(createHmac('sha256', '0123456789abcdef').update(signed).digest('base64url'));
  });
  await run('config set-credentials joiner --token=aaaaaa.0123456789abcdef');
  expect(await run('auth whoami --user=joiner -o jsonpath={.status.userInfo.username}')).toBe(
    'system:bootstrap:aaaaaa',
  );
  const { request } = await createCertificateSigningRequest({
    commonName: 'system:node:newcomer',
    organizations: ['system:nodes'],
  });
  const asked = {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: 'newcomer' },
    spec: {
      signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
      usages: ['digital signature', 'client auth'],
      request: Buffer.from(request).toString('base64'),
    },
  };
  await run('create -f - --user=joiner', JSON.stringify(asked));
  await until(async () => expect(await read('csr/newcomer', '{.status.certificate}')).not.toBe(''));

  await apply(secret('bbbbbb', new Date(Date.now() - 1000)));
  await until(() => isGone('secret bootstrap-token-bbbbbb -n kube-system'));
  await run('delete secret bootstrap-token-aaaaaa -n kube-system');
  await until(async () => expect(await signature('aaaaaa')).toBe(''));
});

it('accounts and the root CA: are made anew, and put right', async () => {
  const before = await read('sa/default', '{.metadata.uid}');
  await run('delete sa default');
  await until(async () => expect(await read('sa/default', '{.metadata.uid}')).not.toBe(before));
  const certificate = await read('cm/kube-root-ca.crt', '{.data.ca\\.crt}');
  expect(certificate).toContain('BEGIN CERTIFICATE');
  await run(['patch', 'cm', 'kube-root-ca.crt', '--type=merge', '-p', '{"data":{"ca.crt":"x","other":"y"}}']);
  await until(async () => expect(await read('cm/kube-root-ca.crt', '{.data}')).not.toContain('other'));
  expect(await read('cm/kube-root-ca.crt', '{.data.ca\\.crt}')).toBe(certificate);
  await run('delete cm kube-root-ca.crt');
  await until(() => read('cm/kube-root-ca.crt', '{.metadata.uid}'));
});

it('aggregated roles: what is labelled for `view` is allowed to those who may view, and no longer when it is not', async () => {
  const allowed = async (expected: 'yes' | 'no') =>
    expect((await attempt('auth can-i list nodes --as=vera')).stdout.trim()).toBe(expected);
  await run('create clusterrolebinding vera --clusterrole=view --user=vera');
  await allowed('no');
  await apply({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'of-nodes', labels: { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' } },
    rules: [{ apiGroups: [''], resources: ['nodes'], verbs: ['get', 'list'] }],
  });
  await until(() => allowed('yes'));
  // view is part of edit, which is part of admin.
  await until(async () =>
    expect(await read('clusterrole/admin', '{.rules[*].resources}')).toContain('"nodes"'),
  );
  await run('label clusterrole of-nodes rbac.authorization.k8s.io/aggregate-to-view-');
  await until(() => allowed('no'));
});

it('objects that contradict themselves: say so, and others go on', async () => {
  await run('create service clusterip lonely --tcp=80');
  await run(['patch', 'service', 'lonely', '-p', '{"spec":{"selector":{"app":"nobody"}}}']);
  await apply({
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name: 'ghost' },
    spec: { maxReplicas: 3, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'ghost' } },
  });
  await run('autoscale deployment busy --max=3 --cpu=50%');
  await run('create pdb nothing --selector=app=nobody --min-available=1');
  const condition = (type: string) =>
    `{.status.conditions[?(@.type=="${type}")].status} {.status.conditions[?(@.type=="${type}")].reason}`;
  await until(async () => {
    expect(await read('hpa/ghost', condition('AbleToScale'))).toBe('False FailedGetScale');
    expect(await read('hpa/busy', condition('ScalingActive'))).toBe('False FailedGetResourceMetric');
    expect(await read('pdb/nothing', condition('DisruptionAllowed'))).toBe('False InsufficientPods');
    const slices = await read(
      'endpointslices -l kubernetes.io/service-name=lonely',
      '{.items[*].metadata.name}',
    );
    expect(slices).toMatch(/^lonely-\w+$/);
    expect(await read('endpoints/lonely', '{.subsets}')).toBe('');
  });
  // Before its Pod is ready, another word is said of it.
  await until(async () =>
    expect(await run('describe hpa busy')).toMatch(
      /Warning +FailedGetResourceMetric .* missing request for cpu in container nginx of Pod busy-/,
    ),
  );
  expect(await run('describe hpa ghost')).toMatch(
    /Warning +FailedGetScale .* deployments\.apps "ghost" not found/,
  );
  await run('create deployment after --image=nginx');
  await run('rollout status deployment/after --timeout=120s');
});
