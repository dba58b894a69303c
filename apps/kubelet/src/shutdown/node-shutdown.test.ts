import { Nodes } from '@tinkernetes/api';
import { eventually } from '@tinkernetes/component-base/testing';
import { conditionOf, KubeletFixture, nodeName } from '../testing/kubelet-fixture';

const machineGoesOff = () => process.emit(process.platform === 'linux' ? 'SIGPWR' : 'SIGUSR2');

describe('a node whose machine goes off', () => {
  let kubelet: KubeletFixture;
  beforeAll(async () => {
    kubelet = await KubeletFixture.create();
    await kubelet.start(['--shutdown-grace-period=20s', '--shutdown-grace-period-critical-pods=10s']);
    await kubelet.assignPodCIDR();
  });
  afterAll(() => kubelet.close());

  it('ends ordinary Pods, then critical ones, says why, and takes no more', async () => {
    await kubelet.create('plain');
    await kubelet.create('critical', { priorityClassName: 'system-node-critical' });
    await kubelet.phase('plain', 'Running');
    await kubelet.phase('critical', 'Running');
    const order: string[] = [];
    kubelet.runtime.onStop = ({ config }) => {
      order.push(config.metadata?.name ?? '');
      return 143;
    };
    machineGoesOff();
    const plain = await kubelet.phase('plain', 'Failed');
    expect(plain.status).toMatchObject({
      reason: 'Terminated',
      message: 'Pod was terminated in response to imminent node shutdown.',
    });
    expect(conditionOf(plain, 'DisruptionTarget')).toMatchObject({
      status: 'True',
      reason: 'TerminationByKubelet',
    });
    await kubelet.phase('critical', 'Failed');
    expect(order).toEqual(['plain-main', 'critical-main']);
    await eventually(async () => {
      const { status } = await kubelet.client.for(Nodes).get(nodeName);
      expect(status?.conditions?.find((c) => c.type === 'Ready')).toMatchObject({
        status: 'False',
        message: 'node is shutting down',
      });
    });
    await kubelet.create('late');
    const late = await kubelet.phase('late', 'Failed');
    expect(late.status).toMatchObject({
      reason: 'NodeShutdown',
      message: 'Pod was rejected: Pod was rejected as the node is shutting down.',
    });
  });
});
