import { eventually } from '@tinkernetes/component-base/testing';
import { CommandLineClient, transcript } from '../harness/clients';
import { ClusterProcess } from '../harness/cluster-process';

interface List<T> {
  items: T[];
}
interface PodLike {
  metadata: { name: string; uid: string };
  spec: { nodeName?: string };
  status: { phase: string; podIP?: string };
}
interface ServiceLike {
  spec: { ports: { name: string; port: number; protocol: string; targetPort: number }[] };
}

let cluster: ClusterProcess;

beforeAll(async () => {
  cluster = await ClusterProcess.start();
});
afterAll(() => cluster?.stopAndRemove());

describe.each(['32', '35'] as const)('kubectl 1.%s', (version) => {
  let kubectl: CommandLineClient;
  const namespace = `shows-${version}`;
  const inNamespace = (...args: string[]) => ['-n', namespace, ...args];
  const pods = async (selector: string) =>
    (await kubectl.json<List<PodLike>>(inNamespace('get', 'pods', '-l', selector))).items;

  beforeAll(async () => {
    kubectl = new CommandLineClient('kubectl', version, cluster.kubeconfig);
    await kubectl.run(['create', 'namespace', namespace]);
  });
  afterAll(() => kubectl.run(['delete', 'namespace', namespace, '--timeout=120s']));

  it('shows three Ready nodes', async () => {
    const table = await kubectl.run(['get', 'nodes', '-o', 'wide']);
    const lines = table.trim().split('\n');
    expect(lines[0]).toMatch(
      /^NAME +STATUS +ROLES +AGE +VERSION +INTERNAL-IP +EXTERNAL-IP +OS-IMAGE +KERNEL-VERSION +CONTAINER-RUNTIME/,
    );
    expect(lines.slice(1).map((l) => l.split(/ +/).slice(0, 2))).toEqual([
      ['node-1', 'Ready'],
      ['node-2', 'Ready'],
      ['node-3', 'Ready'],
    ]);
  });

  it('rolls out a Deployment over all nodes', async () => {
    await kubectl.run(inNamespace('create', 'deployment', 'web', '--image=nginx', '--replicas=6'));
    const rollout = await kubectl.run(inNamespace('rollout', 'status', 'deploy/web', '--timeout=120s'));
    expect(rollout).toContain('deployment "web" successfully rolled out');
    const running = await pods('app=web');
    expect(running).toHaveLength(6);
    expect(running.every((p) => p.status.phase === 'Running')).toBe(true);
    expect(new Set(running.map((p) => p.spec.nodeName)).size).toBe(3);
    expect(new Set(running.map((p) => p.status.podIP)).size).toBe(6);
  });

  it('reaches a Service by name from a Pod run interactively', async () => {
    await kubectl.run(inNamespace('expose', 'deploy', 'web', '--port', '80'));
    const output = await kubectl.run(
      inNamespace(
        'run',
        'sh',
        '--image=busybox',
        '--restart=Never',
        '-i',
        '--rm',
        '--',
        'sh',
        '-c',
        // The node and the DNS server hear of a new Service a moment later.
        'until wget -qO- http://web; do sleep 0.2; done',
      ),
    );
    expect(output).toContain('Welcome to nginx!');
  });

  it('C01: merges Service ports by port alone, and applies them by port and protocol', async () => {
    const tcp = { name: 't', port: 53, protocol: 'TCP' };
    const udp = { name: 'u', port: 53, protocol: 'UDP' };
    const service = (name: string, ports: object[]) => ({
      input: JSON.stringify({ apiVersion: 'v1', kind: 'Service', metadata: { name }, spec: { ports } }),
    });
    const apply = (...more: string[]) => inNamespace('apply', '-f', '-', ...more);
    const portsOf = async (name: string) =>
      (await kubectl.json<ServiceLike>(inNamespace('get', 'service', name))).spec.ports.map(
        (port) => `${port.name} ${port.port}/${port.protocol} ${port.targetPort}`,
      );
    expect(await kubectl.run(apply(), service('dnsish', [tcp]))).toBe('service/dnsish created\n');
    expect(await kubectl.run(apply(), service('dnsish', [tcp, udp]))).toBe('service/dnsish configured\n');
    expect(await portsOf('dnsish')).toEqual(['t 53/TCP 53']);

    const twins = [
      { name: 't', port: 443, protocol: 'TCP', targetPort: 8443 },
      { name: 'q', port: 443, protocol: 'UDP', targetPort: 8443 },
    ];
    await kubectl.run(inNamespace('create', '-f', '-'), service('twin', twins));
    const both = JSON.stringify({ spec: { ports: twins.map((port) => ({ ...port, targetPort: 9443 })) } });
    const refused = await kubectl.try(inNamespace('patch', 'service', 'twin', '-p', both));
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(/^The Service "twin" is invalid:[^]*spec\.ports\[1\][^]*Duplicate value/);
    expect(await portsOf('twin')).toEqual(['t 443/TCP 8443', 'q 443/UDP 8443']);

    await kubectl.run(inNamespace('delete', 'service', 'dnsish'));
    await kubectl.run(apply(), service('dnsish', [tcp]));
    await kubectl.run(apply('--server-side'), service('dnsish', [tcp, udp]));
    expect(await portsOf('dnsish')).toEqual(['t 53/TCP 53', 'u 53/UDP 53']);
  });

  it('streams changes with get --watch', async () => {
    const watch = kubectl.spawn(inNamespace('get', 'pods', '-o', 'wide', '--watch'));
    const seen = transcript(watch);
    await seen.until(/web-.* Running/);
    await kubectl.run(inNamespace('run', 'watched', '--image=nginx'));
    await seen.until(/watched .*Pending/);
    await seen.until(/watched .*Running/);
    await kubectl.run(inNamespace('delete', 'pod', 'watched', '--now'));
    watch.kill();
  });

  it('describes a Pod with its events', async () => {
    const [pod] = await pods('app=web');
    const parts = [
      'Controlled By:  ReplicaSet/web-',
      'Status:           Running',
      'Scheduled',
      'Pulled',
      'Created',
      'Started',
    ];
    // Events are written after what they tell of.
    await eventually(async () => {
      const text = await kubectl.run(inNamespace('describe', 'pod', pod?.metadata.name ?? ''));
      for (const part of parts) expect(text).toContain(part);
    });
  });

  it('follows logs, executes commands and gives exit codes through', async () => {
    await kubectl.run(
      inNamespace(
        'run',
        'talker',
        '--image=busybox',
        '--restart=Never',
        '--',
        'sh',
        '-c',
        'i=0; while true; do echo line $i; i=$((i+1)); sleep 0.2; done',
      ),
    );
    await kubectl.run(inNamespace('wait', '--for=condition=Ready', 'pod/talker', '--timeout=120s'));
    const logs = kubectl.spawn(inNamespace('logs', '-f', 'talker'));
    await transcript(logs).until(/line 0\nline 1\nline 2\nline 3/);
    logs.kill();
    expect(
      await kubectl.run(inNamespace('exec', 'talker', '--', 'sh', '-c', 'echo $((6*7)); hostname')),
    ).toBe('42\ntalker\n');
    expect((await kubectl.try(inNamespace('exec', 'talker', '--', 'sh', '-c', 'exit 3'))).code).toBe(3);
    expect(
      await kubectl.run(inNamespace('exec', '-i', 'talker', '--', 'cat'), { input: 'through stdin\n' }),
    ).toBe('through stdin\n');
    await kubectl.run(inNamespace('delete', 'pod', 'talker', '--now'));
  });

  it('forwards a port to a Service', async () => {
    const forward = kubectl.spawn(inNamespace('port-forward', 'svc/web', ':80'));
    const forwarding = /Forwarding from 127\.0\.0\.1:(\d+)/;
    const port = forwarding.exec(await transcript(forward).until(forwarding))?.[1];
    for (let i = 0; i < 3; i++) {
      const answer = await fetch(`http://127.0.0.1:${port}/`);
      expect(answer.status).toBe(200);
      expect(await answer.text()).toContain('Welcome to nginx!');
    }
    forward.kill();
  });

  it('rolls a new image out and back, and scales', async () => {
    await kubectl.run(inNamespace('set', 'image', 'deploy/web', 'nginx=nginx:1.27'));
    await kubectl.run(inNamespace('rollout', 'status', 'deploy/web', '--timeout=120s'));
    const image = () =>
      kubectl.run(
        inNamespace('get', 'deploy', 'web', '-o', 'jsonpath={.spec.template.spec.containers[0].image}'),
      );
    expect(await image()).toBe('nginx:1.27');
    await kubectl.run(inNamespace('rollout', 'undo', 'deploy/web'));
    await kubectl.run(inNamespace('rollout', 'status', 'deploy/web', '--timeout=120s'));
    expect(await image()).toBe('nginx');
    expect(await kubectl.run(inNamespace('rollout', 'history', 'deploy/web'))).toMatch(/2 .*\n3 /);
    await kubectl.run(inNamespace('scale', 'deploy/web', '--replicas=20'));
    await kubectl.run(inNamespace('rollout', 'status', 'deploy/web', '--timeout=120s'));
    expect((await pods('app=web')).filter((p) => p.status.phase === 'Running').length).toBeGreaterThanOrEqual(
      20,
    );
    await kubectl.run(inNamespace('scale', 'deploy/web', '--replicas=6'));
  });

  it('replaces a deleted Pod', async () => {
    const before = await eventually(async () => {
      const list = await pods('app=web');
      expect(list).toHaveLength(6);
      return list;
    });
    await kubectl.run(inNamespace('delete', 'pod', before[0]?.metadata.name ?? ''));
    await eventually(async () => {
      const after = await pods('app=web');
      expect(after).toHaveLength(6);
      expect(after.every((p) => p.status.phase === 'Running')).toBe(true);
      expect(after.map((p) => p.metadata.uid)).not.toContain(before[0]?.metadata.uid);
    });
  });

  it('drains a node and takes it back', async () => {
    await kubectl.run([
      'drain',
      'node-2',
      '--ignore-daemonsets',
      '--force',
      '--delete-emptydir-data',
      '--timeout=120s',
    ]);
    await kubectl.run(inNamespace('rollout', 'status', 'deploy/web', '--timeout=120s'));
    await eventually(async () => {
      const list = await pods('app=web');
      expect(list).toHaveLength(6);
      expect(list.map((p) => p.spec.nodeName)).not.toContain('node-2');
    });
    expect(await kubectl.run(['get', 'node', 'node-2'])).toContain('Ready,SchedulingDisabled');
    await kubectl.run(['uncordon', 'node-2']);
  });

  it('applies, diffs, edits, labels, annotates and deletes', async () => {
    const manifest = (color: string) =>
      `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\ndata:\n  color: ${color}\n`;
    expect(await kubectl.run(inNamespace('apply', '-f', '-'), { input: manifest('red') })).toBe(
      'configmap/settings created\n',
    );
    expect(await kubectl.run(inNamespace('apply', '-f', '-'), { input: manifest('red') })).toBe(
      'configmap/settings unchanged\n',
    );
    const diff = await kubectl.try(inNamespace('diff', '-f', '-'), { input: manifest('blue') });
    expect(diff.code).toBe(1);
    expect(diff.stdout).toMatch(/-  color: red\n\+  color: blue/);
    expect(await kubectl.run(inNamespace('apply', '-f', '-'), { input: manifest('blue') })).toBe(
      'configmap/settings configured\n',
    );
    expect(
      await kubectl.run(inNamespace('apply', '--server-side', '--force-conflicts', '-f', '-'), {
        input: manifest('green'),
      }),
    ).toBe('configmap/settings serverside-applied\n');
    await kubectl.run(inNamespace('edit', 'configmap', 'settings'), {
      env: { KUBE_EDITOR: 'sed -i s/green/violet/' },
    });
    await kubectl.run(inNamespace('label', 'configmap', 'settings', 'tier=front'));
    await kubectl.run(inNamespace('annotate', 'configmap', 'settings', 'note=kept'));
    const stored = await kubectl.json<{
      data: object;
      metadata: { labels: object; annotations: Record<string, string> };
    }>(inNamespace('get', 'configmap', 'settings'));
    expect(stored.data).toEqual({ color: 'violet' });
    expect(stored.metadata.labels).toEqual({ tier: 'front' });
    expect(stored.metadata.annotations.note).toBe('kept');
    expect(await kubectl.run(inNamespace('delete', 'configmap', 'settings'))).toMatch(
      /^configmap "settings" deleted/,
    );
  });

  it('lists, names and explains what there is', async () => {
    const all = await kubectl.run(['get', 'all', '-A']);
    for (const part of ['pod/web-', 'service/kubernetes', 'deployment.apps/web', 'replicaset.apps/web-'])
      expect(all).toContain(part);
    const resources = await kubectl.run(['api-resources']);
    expect(resources).toMatch(/^deployments +deploy +apps\/v1 +true +Deployment$/m);
    const explained = await kubectl.run(['explain', 'pod.spec.containers']);
    expect(explained).toContain('FIELDS:');
    expect(explained).toMatch(/image\t<string>/);
  });
});
