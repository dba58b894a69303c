import { useCluster } from '../../harness/cluster-fixture';
import { podOf, shell, waits } from '../../harness/pods';

/** `kubectl debug`: of running Pods, of copies of them and of nodes. */
const { run, apply, read, until } = useCluster(['--nodes=1', '--ephemeral']);

const ready = (pod: string) => run(`wait --for=condition=Ready pod/${pod} --timeout=120s`);
const prints = (log: string, text: string | RegExp) =>
  until(async () => expect(await run(`logs ${log}`)).toEqual(expect.stringMatching(text)));

beforeAll(async () => {
  // A program and nothing else: no shell to be used in it.
  await apply(podOf('bare', { containers: [{ name: 'main', image: 'registry.k8s.io/pause:3.10' }] }));
  await ready('bare');
});

it('adds an ephemeral container, which sees the processes of its target', async () => {
  const options = '--image=busybox --target=main --container=helper --profile=general --attach=false';
  await run([...`debug bare ${options}`.split(' '), '--', 'sh', '-c', `ps; echo seen; ${waits()}`]);
  await prints('bare -c helper', 'seen');
  expect(await run('logs bare -c helper')).toMatch(/^ *1 .*\/pause$/m);
  expect(await run('exec bare -c helper -- hostname')).toBe('bare\n');
  const described = await run('describe pod bare');
  expect(described).toMatch(
    /Ephemeral Containers:\n {2}helper:[\s\S]*State: +Running\n[\s\S]*Ready: +False\n +Restart Count: +0\n/,
  );
  // It counts for nothing else.
  expect((await run('get pod bare --no-headers')).split(/ +/).slice(1, 3)).toEqual(['1/1', 'Running']);
});

it('keeps an ephemeral container that has ended, and starts it no more', async () => {
  await run('debug bare --image=busybox --container=brief --profile=general --attach=false -- false');
  const path = '{.status.ephemeralContainerStatuses[?(@.name=="brief")]}';
  await until(async () => expect(await read('pod/bare', path)).toContain('"exitCode":1'));
  expect(JSON.parse(await read('pod/bare', path))).toMatchObject({ restartCount: 0 });
  expect((await run('get pod bare --no-headers')).split(/ +/).slice(1, 3)).toEqual(['1/1', 'Running']);
});

it('copies a Pod, with another container beside', async () => {
  const options = '--copy-to=seen --image=busybox --share-processes --container=helper --profile=general';
  await run([...`debug bare ${options} --attach=false --`.split(' '), 'sh', '-c', waits()]);
  await ready('seen');
  expect(await read('pod/seen', '{.spec.containers[*].name}')).toBe('main helper');
  expect(await run('exec seen -c helper -- ps')).toMatch(/\/pause$/m);
  expect(await read('pod/bare', '{.metadata.name}')).toBe('bare');
});

it('copies a Pod with other images or commands', async () => {
  await apply(podOf('failing', { containers: [shell('main', 'exit 1')] }));
  await run([
    ...'debug failing --copy-to=held --container=main --profile=general --attach=false --'.split(' '),
    ...['sh', '-c', waits()],
  ]);
  await run('debug failing --copy-to=other --set-image=*=alpine --profile=general');
  await ready('held');
  expect(await read('pod/other', '{.spec.containers[*].image}')).toBe('alpine');
});

it('opens a node by a Pod with its file system and its network', async () => {
  const command = ['sh', '-c', 'ls /host && hostname'];
  await run([
    ...'debug node/node-1 --image=busybox --profile=general --attach=false --'.split(' '),
    ...command,
  ]);
  const name = await until(async () => {
    const names = (await read('pods', '{.items[*].metadata.name}')).split(' ');
    const debuggers = names.filter((pod) => pod.startsWith('node-debugger-node-1-'));
    expect(debuggers.length).toBe(1);
    return debuggers[0] ?? '';
  });
  await prints(name, /^etc$[\s\S]*^node-1$/m);
  expect(await read(`pod/${name}`, '{.spec.hostNetwork} {.spec.hostPID} {.spec.nodeName}')).toBe(
    'true true node-1',
  );
});
