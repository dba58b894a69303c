import { join } from 'node:path';
import { eventually } from '@tinkernetes/component-base/testing';
import { CommandLineClient } from '../harness/clients';
import { ClusterProcess } from '../harness/cluster-process';

const chart = join(__dirname, 'chart');

let cluster: ClusterProcess;
beforeAll(async () => {
  cluster = await ClusterProcess.start(['--in-process', '--ephemeral', '--nodes=2']);
});
afterAll(() => cluster?.stopAndRemove());

it.each(['32', '35'] as const)(
  // 1.32's is helm 3, 1.35's is helm 4.
  'helm of kubectl layer 1.%s installs, upgrades, rolls back and uninstalls a chart with a custom resource',
  async (version) => {
    const helm = new CommandLineClient('helm', version, cluster.kubeconfig);
    const kubectl = new CommandLineClient('kubectl', '35', cluster.kubeconfig);
    const release = `shop-${version}`;
    const lamp = () => kubectl.run(['get', 'lamp', release, '-o', 'jsonpath={.spec.text} {.spec.color}']);
    // The nodes and the DNS server hear of a new Service, and of other Pods behind it, a moment later.
    const pageBecomes = (text: string) =>
      eventually(async () => {
        const curl = ['exec', `deploy/${release}`, '--', 'curl', '-s', `http://${release}`];
        expect((await kubectl.run(curl)).trim()).toBe(text);
      });

    await helm.run(['install', release, chart, '--wait', '--timeout=120s']);
    await pageBecomes('hello');
    expect(await kubectl.run(['exec', `deploy/${release}`, '--', 'printenv', 'PASSWORD'])).toBe('secret\n');
    expect(await lamp()).toBe('hello white');

    await helm.run([
      'upgrade',
      release,
      chart,
      '--set=greeting=goodbye,replicas=3',
      '--wait',
      '--timeout=120s',
    ]);
    await pageBecomes('goodbye');
    expect(await lamp()).toBe('goodbye white');

    await helm.run(['rollback', release, '1', '--wait', '--timeout=120s']);
    await pageBecomes('hello');
    expect(await lamp()).toBe('hello white');
    expect(await helm.run(['history', release])).toMatch(/Rollback to 1/);

    await helm.run(['uninstall', release, '--wait', '--timeout=120s']);
    await eventually(async () =>
      expect(
        await kubectl.run(['get', 'deploy,svc,cm,secret,lamp', '-l', `app=${release}`, '-o', 'name']),
      ).toBe(''),
    );
  },
);
