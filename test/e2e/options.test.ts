import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually, findProgram, RedisServer } from '@tinkernetes/component-base/testing';
import { ClusterProcess } from '../harness/cluster-process';
import { CommandLineClient, transcript } from '../harness/clients';

const root = join(__dirname, '../..');
const runner = join(root, 'dist/run.cjs');
const redisServer = findProgram('redis-server');

it('leaves components out, and runs one of them alone', async () => {
  const cluster = await ClusterProcess.start(['--nodes=1', '--without=scheduler,cluster-dns']);
  const kubectl = new CommandLineClient('kubectl', '35', cluster.kubeconfig);
  const phase = () => kubectl.run(['get', 'pod', 'waits', '-o', 'jsonpath={.status.phase}{.spec.nodeName}']);
  try {
    await kubectl.run(['run', 'waits', '--image=nginx']);
    expect(await phase()).toBe('Pending');
    const scheduler = spawn(
      process.execPath,
      [runner, 'tinkernetes', 'run', 'scheduler', `--data-dir=${cluster.dataDir}`],
      { stdio: ['ignore', 'pipe', 'pipe'] },
    );
    const exited = new Promise((resolve) => scheduler.once('exit', resolve));
    try {
      await transcript(scheduler).until('scheduler serves after');
      await eventually(async () => expect(await phase()).toBe('Runningnode-1'));
    } finally {
      scheduler.kill('SIGTERM');
    }
    expect(await exited).toBe(0);
    await kubectl.run(['run', 'waits-again', '--image=nginx']);
    expect(await kubectl.run(['get', 'pod', 'waits-again', '-o', 'jsonpath={.status.phase}'])).toBe(
      'Pending',
    );
  } finally {
    await cluster.stopAndRemove();
  }
});

it('starts any number of nodes, writes the kubeconfig where it is wanted, and keeps nothing of an ephemeral cluster', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'tk-options-'));
  const kubeconfig = join(directory, 'my.kubeconfig');
  const cluster = await ClusterProcess.start([
    '--nodes=5',
    '--ephemeral',
    '--in-process',
    `--kubeconfig=${kubeconfig}`,
  ]);
  try {
    const kubectl = new CommandLineClient('kubectl', '35', kubeconfig);
    const nodes = (await kubectl.run(['get', 'nodes', '-o', 'name'])).trim().split('\n');
    expect(nodes).toEqual([1, 2, 3, 4, 5].map((i) => `node/node-${i}`));
  } finally {
    await cluster.stop();
  }
  expect(readdirSync(cluster.dataDir)).toEqual([]);
  await cluster.stopAndRemove();
  rmSync(directory, { recursive: true });
});

(redisServer ? it : it.skip)('keeps its objects in Redis', async () => {
  const redis = await RedisServer.start(redisServer ?? '');
  const flags = ['--nodes=1', `--storage=${redis.url}`];
  try {
    const first = await ClusterProcess.start(flags);
    const dataDir = first.dataDir;
    await new CommandLineClient('kubectl', '35', first.kubeconfig).run([
      'create',
      'configmap',
      'kept',
      '--from-literal=a=b',
    ]);
    await first.stop();
    const second = await ClusterProcess.start(flags, dataDir);
    expect(
      await new CommandLineClient('kubectl', '35', second.kubeconfig).run([
        'get',
        'configmap',
        'kept',
        '-o',
        'jsonpath={.data.a}',
      ]),
    ).toBe('b');
    await second.stopAndRemove();
  } finally {
    await redis.remove();
  }
});

it('answers on node ports, from inside Pods, and tells the steps that led there', async () => {
  const cluster = await ClusterProcess.start(['--nodes=2']);
  const kubectl = new CommandLineClient('kubectl', '35', cluster.kubeconfig);
  try {
    await kubectl.run(['create', 'deployment', 'web', '--image=nginx', '--replicas=2']);
    await kubectl.run(['rollout', 'status', 'deploy/web', '--timeout=120s']);
    await kubectl.run(['expose', 'deploy', 'web', '--port=80', '--type=NodePort']);
    const nodePort = await kubectl.run(['get', 'service', 'web', '-o', 'jsonpath={.spec.ports[0].nodePort}']);
    await eventually(async () => {
      const answer = await fetch(`http://127.0.0.1:${nodePort}/`);
      expect(await answer.text()).toContain('Welcome to nginx!');
    });

    await kubectl.run([
      'run',
      'client',
      '--image=curlimages/curl',
      '--restart=Never',
      '--command',
      '--',
      'sleep',
      '3600',
    ]);
    await kubectl.run(['wait', '--for=condition=Ready', 'pod/client', '--timeout=120s']);
    const directory = '/var/run/secrets/kubernetes.io/serviceaccount';
    const version = await kubectl.run([
      'exec',
      'client',
      '--',
      'sh',
      '-c',
      `curl -s --cacert ${directory}/ca.crt -H "Authorization: Bearer $(cat ${directory}/token)" https://kubernetes.default.svc/version`,
    ]);
    expect(JSON.parse(version)).toMatchObject({ major: '1', minor: '36' });

    // Each process hands its steps in some moments after they were done.
    await eventually(() => {
      const rows = traceOf('deployment/web', cluster).split('\n').slice(1, -1);
      expect(rows).toHaveLength(46);
      const missing = rows
        .filter((row) => row.slice(36, 50).trim().startsWith('missing'))
        .map((row) => row.slice(4).split(' ')[0]);
      // Nobody has asked for initializers.
      expect(missing).toEqual(['apiserver.initializers']);
      expect(rows[0]).toContain('inferred=true, command=kubectl create');
    });
  } finally {
    await cluster.stopAndRemove();
  }
});

const traceOf = (object: string, { dataDir }: ClusterProcess): string =>
  execFileSync(process.execPath, [runner, 'tinkernetes', 'trace', object, `--data-dir=${dataDir}`], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH },
  });
