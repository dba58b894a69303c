import { join } from 'node:path';
import { eventually } from '@tinkernetes/component-base/testing';
import { CommandLineClient } from '../harness/clients';
import { ClusterProcess } from '../harness/cluster-process';

const namespace = 'default';
const manifest = (name: string) => join(__dirname, 'manifests', name);
/** A look at metrics every 15 s, and samples of Pods that have been ready for 10 s. */
const autoscalingTimeoutMs = 140_000;

let cluster: ClusterProcess;
let kubectl: CommandLineClient;

beforeAll(async () => {
  cluster = await ClusterProcess.start(['--nodes=2']);
  kubectl = new CommandLineClient('kubectl', '35', cluster.kubeconfig);
  // Takes its time while the other tests run.
  await kubectl.run(['apply', '-f', manifest('autoscaling.yaml'), '-f', manifest('php-apache.yaml')]);
  await kubectl.run(['autoscale', 'deployment', 'php-apache', '--cpu=20%', '--min=1', '--max=5']);
  const load = 'while sleep 0.1; do wget -q -O- http://php-apache; done';
  const generator = ['load-generator', '--image=busybox', '--restart=Never', '--', 'sh', '-c', load];
  await kubectl.run(['run', ...generator]);
});
afterAll(() => cluster?.stopAndRemove());

const get = (...args: string[]) => kubectl.run(['get', '-n', namespace, ...args]);
const replicas = () => get('deploy', 'burn', '-o', 'jsonpath={.spec.replicas}');

it("keeps a StatefulSet's data when its Pods are deleted", async () => {
  await kubectl.run(['apply', '-f', manifest('storage.yaml')]);
  await kubectl.run(['rollout', 'status', 'sts/db', '--timeout=120s']);
  await kubectl.run(['delete', 'pod', 'db-0', 'db-1', '--wait=true']);
  await kubectl.run(['rollout', 'status', 'sts/db', '--timeout=120s']);
  for (const name of ['db-0', 'db-1'])
    await eventually(async () =>
      expect(await kubectl.run(['exec', name, '--', 'cat', '/data/starts'])).toBe(
        `${name} started\n${name} started\n`,
      ),
    );
});

it('attaches each volume to the node of its Pod, and nowhere else', async () => {
  await eventually(async () => {
    const pods = await get(
      'pods',
      '-l',
      'app=db',
      '-o',
      'jsonpath={range .items[*]}{.spec.nodeName}{"\\n"}{end}',
    );
    const attached = await get(
      'volumeattachments',
      '-o',
      'jsonpath={range .items[?(@.status.attached==true)]}{.spec.nodeName}{" "}{.spec.source.persistentVolumeName}{"\\n"}{end}',
    );
    for (const claim of ['data-db-0', 'data-db-1']) {
      const volume = await get('pvc', claim, '-o', 'jsonpath={.spec.volumeName}');
      const lines = attached.split('\n').filter((line) => line.endsWith(volume));
      expect(lines).toHaveLength(1);
      expect(pods).toContain(lines[0]?.split(' ')[0]);
    }
  });
});

it('makes volumes that live as long as a Pod', async () => {
  await kubectl.run(['wait', 'pod/scratch', '--for=condition=Ready', '--timeout=120s']);
  expect(await get('pvc', 'scratch-claimed', '-o', 'jsonpath={.status.phase}')).toBe('Bound');
  const files = ['exec', 'scratch', '--', 'cat', '/claimed/file', '/inline/file'];
  await eventually(async () => expect(await kubectl.run(files)).toBe('a\nb\n'));
  await kubectl.run(['delete', 'pod', 'scratch']);
  await eventually(async () =>
    expect((await kubectl.try(['get', 'pvc', 'scratch-claimed'])).stderr).toContain('not found'),
  );
});

it('is asked to grow a claim that is in use', async () => {
  const patch = JSON.stringify({ spec: { resources: { requests: { storage: '2Gi' } } } });
  await kubectl.run(['patch', 'pvc', 'data-db-0', '--type=merge', '-p', patch]);
  const volume = await get('pvc', 'data-db-0', '-o', 'jsonpath={.spec.volumeName}');
  await eventually(async () =>
    expect(await get('pv', volume, '-o', 'jsonpath={.spec.capacity.storage}')).toBe('2Gi'),
  );
});

it("changes a volume's attributes, and keeps their class while it is in use", async () => {
  const patch = JSON.stringify({ spec: { volumeAttributesClassName: 'fast' } });
  await kubectl.run(['patch', 'pvc', 'data-db-1', '--type=merge', '-p', patch]);
  const path = 'jsonpath={.status.currentVolumeAttributesClassName}';
  await eventually(async () => expect(await get('pvc', 'data-db-1', '-o', path)).toBe('fast'));
  await kubectl.run(['delete', 'vac', 'fast', '--wait=false']);
  expect(await get('vac', 'fast', '-o', 'jsonpath={.metadata.finalizers}')).toContain('vac-protection');
});

it('hints at the node of each endpoint', async () => {
  await kubectl.run(['expose', 'deploy', 'burn', '--port=80']);
  const patch = JSON.stringify({ spec: { trafficDistribution: 'PreferSameNode' } });
  await kubectl.run(['patch', 'svc', 'burn', '--type=merge', '-p', patch]);
  await eventually(async () => {
    const hints = await get(
      'endpointslices',
      '-l',
      'kubernetes.io/service-name=burn',
      '-o',
      'jsonpath={range .items[*].endpoints[*]}{.nodeName}={.hints.forNodes[0].name} {end}',
    );
    expect(hints.trim()).toMatch(/^(node-\d)=\1( (node-\d)=\3)*$/);
  });
});

it('shows what nodes, Pods and containers use', async () => {
  const lines = async (...args: string[]) =>
    (await kubectl.run(['top', ...args]))
      .trim()
      .split('\n')
      .map((line) => line.trim().split(/ +/));
  await eventually(async () =>
    expect((await lines('nodes', '--no-headers')).map(([name]) => name)).toEqual(['node-1', 'node-2']),
  );
  await eventually(async () => {
    const [header, row] = await lines('pods', '--containers', '-l', 'app=burn');
    expect(header).toEqual(['POD', 'NAME', 'CPU(cores)', 'MEMORY(bytes)']);
    const [, container, cpu = '', memory] = row ?? [];
    expect([container, memory]).toEqual(['main', '30Mi']);
    expect(parseInt(cpu)).toBeGreaterThan(5);
  });
  expect(await kubectl.run(['get', 'nodes.metrics.k8s.io'])).toMatch(/^NAME +CPU +MEMORY +WINDOW/);
});

it('scales a web server with its visitors, as the walkthrough of the documentation does', async () => {
  const size = async () => Number(await get('deploy', 'php-apache', '-o', 'jsonpath={.spec.replicas}'));
  await eventually(async () => expect(await size()).toBeGreaterThan(1), { timeoutMs: autoscalingTimeoutMs });
  await eventually(async () =>
    expect(await kubectl.run(['describe', 'hpa', 'php-apache'])).toContain(
      'reason: cpu resource utilization (percentage of request) above target',
    ),
  );
  await kubectl.run(['delete', 'pod', 'load-generator', '--now']);
  await eventually(async () => {
    const top = await kubectl.run(['top', 'pods', '-l', 'run=php-apache', '--no-headers']);
    const pods = top.trim().split('\n');
    expect(pods).toHaveLength(await size());
    for (const pod of pods) expect(pod).toMatch(/^php-apache-\S+ +\d+m +\d+Mi/);
  });
  await kubectl.run(['delete', 'hpa,deploy,svc', 'php-apache']);
});

it('scales with the load, up and down', async () => {
  await eventually(async () => expect(await replicas()).toBe('3'), { timeoutMs: autoscalingTimeoutMs });
  await eventually(async () =>
    expect(await kubectl.run(['describe', 'hpa', 'burn'])).toContain('SuccessfulRescale'),
  );
  const names = await get('pods', '-l', 'app=burn', '-o', 'name');
  for (const name of names.trim().split('\n')) await kubectl.run(['exec', name, '--', 'touch', '/stop']);
  await eventually(async () => expect(await replicas()).toBe('1'), { timeoutMs: autoscalingTimeoutMs });
});

it('has grown the claim on its node', async () => {
  // The kubelet looks at a Pod's volumes with the Pod, at least every 20 s.
  await eventually(
    async () =>
      expect(await get('pvc', 'data-db-0', '-o', 'jsonpath={.status.capacity.storage}')).toBe('2Gi'),
    { timeoutMs: 60_000 },
  );
});

it('leaves the default class as the user has left it, and volumes with their data, at the next start', async () => {
  const isDefault = 'storageclass.kubernetes.io/is-default-class';
  await kubectl.run(['annotate', 'sc', 'standard', `${isDefault}=false`, '--overwrite']);
  await cluster.stop();
  cluster = await ClusterProcess.start(['--nodes=2'], cluster.dataDir);
  expect(
    await get(
      'sc',
      'standard',
      '-o',
      `jsonpath={.metadata.annotations.storageclass\\.kubernetes\\.io/is-default-class}`,
    ),
  ).toBe('false');
  await kubectl.run(['rollout', 'status', 'sts/db', '--timeout=120s']);
  await eventually(async () =>
    expect(await kubectl.run(['exec', 'db-1', '--', 'cat', '/data/starts'])).toContain('db-1 started'),
  );
});
