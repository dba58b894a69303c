import { Events, Nodes, Pods } from '@tinkernetes/api';
import { eventually } from '@tinkernetes/component-base/testing';
import { startTestManager, type TestManager } from './testing/test-manager';

const namespace = 'default';
let manager: TestManager;

beforeAll(async () => {
  manager = await startTestManager({ args: ['--node-monitor-period=200ms'] });
  await manager.client.for(Nodes).create({
    metadata: { name: 'n1' },
    spec: { taints: [{ key: 'repair', effect: 'NoExecute' }] },
  });
});
afterAll(() => manager.stop());

const run = async (name: string): Promise<void> => {
  await manager.client.for(Pods).create(
    {
      metadata: { name },
      spec: {
        nodeName: 'n1',
        containers: [{ name: 'main', image: 'nginx' }],
        tolerations: [{ key: 'repair', effect: 'NoExecute', operator: 'Exists', tolerationSeconds: 3600 }],
      },
    },
    { namespace },
  );
};
/** How many keys the controller has looked at. */
const looks = async (): Promise<number> => {
  const series = 'workqueue_work_duration_seconds_count{name="taint-eviction-controller"} ';
  const line = (await manager.metrics()).split('\n').find((l) => l.startsWith(series));
  return Number(line?.slice(series.length) ?? 0);
};
const messagesOf = async (name: string): Promise<(string | undefined)[]> =>
  (await manager.client.for(Events).list({ namespace })).items
    .filter(({ involvedObject, reason }) => involvedObject.name === name && reason === 'TaintManagerEviction')
    .map(({ message }) => message);

it('says that a deletion is cancelled when the taint goes away, or the Pod itself', async () => {
  await run('stays');
  await run('goes');
  await eventually(async () => expect(await looks()).toBeGreaterThanOrEqual(2));
  await manager.client.for(Pods).delete('goes', { namespace, gracePeriodSeconds: 0 });
  await eventually(async () =>
    expect(await messagesOf('goes')).toEqual(['Cancelling deletion of Pod default/goes']),
  );
  expect(await messagesOf('stays')).toEqual([]);
  await manager.client.for(Nodes).patch('n1', { spec: { taints: null } }, { type: 'merge' });
  await eventually(async () =>
    expect(await messagesOf('stays')).toEqual(['Cancelling deletion of Pod default/stays']),
  );
  const stays = await manager.client.for(Pods).get('stays', { namespace });
  expect(stays.metadata.deletionTimestamp).toBeUndefined();
});

it('says when a Node is first watched over, and when it is no more', async () => {
  const messages = async (reason: string) =>
    (await manager.client.for(Events).list({ namespace })).items
      .filter((event) => event.involvedObject.name === 'n2' && event.reason === reason)
      .map(({ type, message, source }) => [type, message, source?.component]);
  const created = await manager.client.for(Nodes).create({ metadata: { name: 'n2' }, spec: {} });
  await eventually(async () =>
    expect(await messages('RegisteredNode')).toEqual([
      ['Normal', 'Node n2 event: Registered Node n2 in Controller', 'node-controller'],
    ]),
  );
  await manager.client.for(Nodes).delete('n2', { preconditions: { uid: created.metadata.uid } });
  await eventually(async () =>
    expect(await messages('RemovingNode')).toEqual([
      ['Normal', 'Node n2 event: Removing Node n2 from Controller', 'node-controller'],
    ]),
  );
});
