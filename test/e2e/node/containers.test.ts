import { eventually } from '@tinkernetes/component-base/testing';
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CommandLineClient, transcript } from '../../harness/clients';
import { ClusterProcess } from '../../harness/cluster-process';

let cluster: ClusterProcess;
let kubectl: CommandLineClient;
let directory: string;
const children = new Set<ChildProcess>();

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'tk-node-e2e-'));
  cluster = await ClusterProcess.start(['--nodes=1', '--ephemeral']);
  kubectl = new CommandLineClient('kubectl', '35', cluster.kubeconfig);
});
afterEach(() => {
  for (const child of children) child.kill('SIGKILL');
  children.clear();
});
afterAll(async () => {
  await cluster?.stopAndRemove();
  rmSync(directory, { recursive: true, force: true });
});

const ready = (pod: string) => kubectl.run(['wait', '--for=condition=Ready', `pod/${pod}`, '--timeout=120s']);

/** kubectl with a real terminal: util-linux's `script` opens a pty for it. */
function onTerminal(args: readonly string[]): ChildProcess {
  const command = [kubectl.path, ...args].map((arg) => `'${arg.replaceAll("'", `'\\''`)}'`).join(' ');
  const child = spawn('script', ['-qefc', command, '/dev/null'], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, KUBECONFIG: cluster.kubeconfig, TERM: 'dumb', SHELL: '/bin/sh' },
  });
  children.add(child);
  return child;
}
const ended = (child: ChildProcess) =>
  new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)));

describe('kubectl cp', () => {
  beforeAll(async () => {
    await kubectl.run(['run', 'files', '--image=busybox', '--restart=Never', '--', 'sleep', '3600']);
    await ready('files');
  });
  afterAll(() => kubectl.run(['delete', 'pod', 'files', '--now']));

  it('copies a directory into a container and back, byte by byte', async () => {
    const there = join(directory, 'there');
    const back = join(directory, 'back');
    mkdirSync(join(there, 'deep'), { recursive: true });
    const bytes = Buffer.from(Array.from({ length: 100_000 }, (_, i) => (i * 7) % 256));
    writeFileSync(join(there, 'deep/bytes'), bytes);
    writeFileSync(join(there, 'text'), 'hello\n');
    await kubectl.run(['cp', there, 'files:/tmp/copied']);
    expect(await kubectl.run(['exec', 'files', '--', 'cat', '/tmp/copied/text'])).toBe('hello\n');
    await kubectl.run(['cp', 'files:/tmp/copied', back]);
    expect(readFileSync(join(back, 'deep/bytes')).equals(bytes)).toBe(true);
    expect(readFileSync(join(back, 'text'), 'utf8')).toBe('hello\n');
  });

  it('says when there is nothing to copy', async () => {
    // kubectl prints what tar complains of, and is content.
    const printed = await kubectl.run(['cp', 'files:/nowhere', join(directory, 'none')]);
    expect(printed).toContain('tar: /nowhere: No such file or directory');
  });
});

describe('kubectl attach', () => {
  afterAll(() => kubectl.run(['delete', 'pod', 'asks', '--now']));

  it('shows what a running container prints and passes input on', async () => {
    await kubectl.run([
      'run',
      'asks',
      '--image=busybox',
      '--restart=Never',
      '--stdin',
      '--attach=false',
      '--',
      'sh',
      '-c',
      'while read line; do echo "got $line"; done',
    ]);
    await ready('asks');
    const attached = kubectl.spawn(['attach', '-i', 'asks']);
    children.add(attached);
    const said = transcript(attached);
    attached.stdin?.write('one\n');
    await said.until('got one');
    attached.stdin?.write('two\n');
    await said.until('got two');
  });
});

const terminals = process.platform === 'linux' ? describe : describe.skip;
terminals('a real terminal', () => {
  it('holds a conversation with kubectl run -it and gives the exit code through', async () => {
    const shell = onTerminal([
      'run',
      'talks',
      '--image=busybox',
      '--restart=Never',
      '-it',
      '--rm',
      '--',
      'sh',
    ]);
    const said = transcript(shell);
    // The prompt came before kubectl was there to see it.
    await said.until('try pressing enter');
    shell.stdin?.write('\n');
    await said.until(/[#$] $/);
    shell.stdin?.write('echo "$((6*7)) is it"; tty\n');
    await said.until(/42 is it\r\n.*\/dev\//s);
    shell.stdin?.write('exit 3\n');
    expect(await ended(shell)).not.toBe(0);
    expect(said.text()).toContain('pod "talks" deleted');
  });

  it('ends a program by Ctrl-C, not the shell around it', async () => {
    await kubectl.run(['run', 'host', '--image=busybox', '--restart=Never', '--', 'sleep', '3600']);
    await ready('host');
    const shell = onTerminal(['exec', '-it', 'host', '--', 'sh']);
    const said = transcript(shell);
    await said.until(/[#$] $/);
    shell.stdin?.write('sleep 1000\n');
    await said.until('sleep 1000');
    await eventually(async () => {
      expect(await kubectl.run(['exec', 'host', '--', 'ps'])).toContain('sleep 1000');
    });
    shell.stdin?.write('\x03');
    shell.stdin?.write('echo still $((1+1))\n');
    await said.until('still 2');
    shell.stdin?.write('exit\n');
    await ended(shell);
    await kubectl.run(['delete', 'pod', 'host', '--now']);
  });
});

describe('a container that may not run as root', () => {
  it('is refused before it starts, where its image is root’s, and runs where it is not', async () => {
    const pod = (name: string, runAsUser?: number) => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name },
      spec: {
        securityContext: { runAsNonRoot: true, ...(runAsUser ? { runAsUser } : {}) },
        containers: [{ name: 'c', image: 'busybox', command: ['sleep', '3600'] }],
      },
    });
    await kubectl.run(['apply', '-f', '-'], { input: JSON.stringify(pod('rooted')) });
    await kubectl.run(['apply', '-f', '-'], { input: JSON.stringify(pod('unrooted', 1000)) });
    await ready('unrooted');
    expect((await kubectl.run(['exec', 'unrooted', '--', 'id', '-u'])).trim()).toBe('1000');
    const reason = '{.status.containerStatuses[0].state.waiting}';
    await eventually(async () => {
      expect(
        JSON.parse(await kubectl.run(['get', 'pod', 'rooted', '-o', `jsonpath=${reason}`])),
      ).toMatchObject({
        reason: 'CreateContainerConfigError',
        message: expect.stringContaining('container has runAsNonRoot and image will run as root'),
      });
    });
    await kubectl.run(['delete', 'pod', 'rooted', 'unrooted', '--now']);
  });
});

const apply = (...objects: object[]) =>
  kubectl.run(['apply', '-f', '-'], {
    input: JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }),
  });
const podOf = (name: string, spec: object) => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec });

describe('a block volume', () => {
  it('is a disk in its container, which keeps what is written when the Pod is made again', async () => {
    const claim = {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'raw' },
      spec: {
        volumeMode: 'Block',
        accessModes: ['ReadWriteOnce'],
        resources: { requests: { storage: '16Mi' } },
      },
    };
    const disk = podOf('disk', {
      terminationGracePeriodSeconds: 0,
      containers: [
        {
          name: 'c',
          image: 'busybox',
          command: ['sleep', '3600'],
          volumeDevices: [{ name: 'raw', devicePath: '/dev/xvda' }],
        },
      ],
      volumes: [{ name: 'raw', persistentVolumeClaim: { claimName: 'raw' } }],
    });
    await apply(claim, disk);
    await ready('disk');
    const write = 'test -b /dev/xvda && echo hello > /dev/xvda && wc -c < /dev/xvda';
    expect((await kubectl.run(['exec', 'disk', '--', 'sh', '-c', write])).trim()).toBe(
      String(16 * 1024 ** 2),
    );
    await kubectl.run(['delete', 'pod', 'disk']);
    await apply(disk);
    await ready('disk');
    expect(await kubectl.run(['exec', 'disk', '--', 'head', '-n', '1', '/dev/xvda'])).toBe('hello\n');
    await kubectl.run(['delete', 'pod', 'disk', '--now']);
    await kubectl.run(['delete', 'pvc', 'raw']);
  });
});

describe('the action RestartAllContainers', () => {
  it('begins the Pod again in place, its volumes kept', async () => {
    const volumeMounts = [{ name: 'data', mountPath: '/data' }];
    await apply(
      podOf('restarts', {
        restartPolicy: 'Never',
        initContainers: [
          { name: 'setup', image: 'busybox', command: ['sh', '-c', 'echo setup >> /data/log'], volumeMounts },
        ],
        containers: [
          { name: 'main', image: 'busybox', command: ['sleep', '3600'], volumeMounts },
          {
            name: 'watcher',
            image: 'busybox',
            // Once only.
            command: ['sh', '-c', 'test -e /data/seen && exec sleep 3600; touch /data/seen; exit 88'],
            volumeMounts,
            restartPolicy: 'Never',
            restartPolicyRules: [
              { action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [88] } },
            ],
          },
        ],
        volumes: [{ name: 'data', emptyDir: {} }],
      }),
    );
    const counts = ['get', 'pod', 'restarts', '-o', 'jsonpath={.status.containerStatuses[*].restartCount}'];
    await eventually(async () => expect(await kubectl.run(counts)).toBe('1 1'), { timeoutMs: 60_000 });
    await ready('restarts');
    const log = await kubectl.run(['exec', 'restarts', '-c', 'main', '--', 'cat', '/data/log']);
    expect(log).toBe('setup\nsetup\n');
    await kubectl.run(['delete', 'pod', 'restarts', '--now']);
  });
});

describe('a container that runs as a user', () => {
  it('may not write where only root may, and makes files of its own where everybody may', async () => {
    await apply(
      podOf('user', {
        securityContext: { runAsUser: 1000, runAsGroup: 3000 },
        containers: [{ name: 'c', image: 'busybox', command: ['sleep', '3600'] }],
      }),
    );
    await ready('user');
    const script = 'touch /x 2>&1; cd /tmp && touch mine && ls -ln mine | tr -s " " | cut -d" " -f3,4';
    expect(await kubectl.run(['exec', 'user', '--', 'sh', '-c', script])).toBe(
      'touch: /x: Permission denied\n1000 3000\n',
    );
    await kubectl.run(['delete', 'pod', 'user', '--now']);
  });
});

describe('a NetworkPolicy', () => {
  it('stops everybody but whom it lets in, and the name server stays to be asked', async () => {
    const page = podOf('page', { containers: [{ name: 'c', image: 'nginx' }] });
    const client = (name: string) =>
      podOf(name, { containers: [{ name: 'c', image: 'busybox', command: ['sleep', '3600'] }] });
    await Promise.all([apply(page), apply(client('friend')), apply(client('stranger'))]);
    await Promise.all(['page', 'friend', 'stranger'].map(ready));
    for (const name of ['page', 'friend', 'stranger'])
      await kubectl.run(['label', 'pod', name, `app=${name}`]);
    await kubectl.run(['expose', 'pod', 'page', '--port=80', '--selector=app=page']);
    const asks = async (name: string): Promise<boolean> => {
      const script = 'wget -T 1 -qO- http://page > /dev/null 2>&1 && echo yes || echo no';
      return (await kubectl.run(['exec', name, '--', 'sh', '-c', script])) === 'yes\n';
    };
    await eventually(async () => expect(await asks('stranger')).toBe(true), { timeoutMs: 60_000 });
    const selects = (app: string) => ({ podSelector: { matchLabels: { app } } });
    await apply({
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      metadata: { name: 'friends-only' },
      spec: { ...selects('page'), ingress: [{ from: [selects('friend')] }] },
    });
    await eventually(async () => expect(await asks('stranger')).toBe(false), { timeoutMs: 60_000 });
    // A machine that is busy may be slow to answer.
    await eventually(async () => expect(await asks('friend')).toBe(true), { timeoutMs: 60_000 });
    const dns = { ports: [{ port: 53, protocol: 'UDP' }] };
    await apply({
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      metadata: { name: 'only-names' },
      spec: { ...selects('friend'), policyTypes: ['Egress'], egress: [dns] },
    });
    await eventually(async () => expect(await asks('friend')).toBe(false), { timeoutMs: 60_000 });
    const looksUp = () => kubectl.run(['exec', 'friend', '--', 'nslookup', 'page']);
    await eventually(async () => expect(await looksUp()).toContain('page.default.svc.cluster.local'), {
      timeoutMs: 60_000,
    });
    await kubectl.run(['delete', 'networkpolicy', '--all']);
    await eventually(async () => expect(await asks('stranger')).toBe(true), { timeoutMs: 60_000 });
    await kubectl.run(['delete', 'pod', 'page', 'friend', 'stranger', '--now']);
    await kubectl.run(['delete', 'service', 'page']);
  });
});
