import { Nodes, Pods, type ContainerStatus } from '@tinkernetes/api';
import { eventually } from '@tinkernetes/component-base/testing';
import { KubeletFixture, nodeName } from './testing/kubelet-fixture';

/** A small sample; `npm run test:long` has 1,000 containers. */
const containers = Number(process.env.CRASH_CONTAINERS ?? 60);
const perPod = 10;
/** Asking for all Pods costs more than what is waited for. */
const patience = { timeoutMs: 1000 * Math.max(120, containers / 5), intervalMs: containers };

describe(`${containers} containers that crash at once`, () => {
  let kubelet: KubeletFixture;
  beforeAll(async () => {
    kubelet = await KubeletFixture.create();
    await kubelet.start(['--max-pods=500']);
    await kubelet.assignPodCIDR();
  });
  afterAll(() => kubelet.close());

  const statuses = async (): Promise<ContainerStatus[]> => {
    const { items } = await kubelet.client
      .for(Pods)
      .list({ namespace: 'default', labelSelector: 'storm=yes' });
    return items.flatMap((pod) => pod.status?.containerStatuses ?? []);
  };
  const all = (wanted: (status: ContainerStatus) => boolean) =>
    eventually(async () => {
      const found = await statuses();
      expect(found.filter(wanted).length).toBe(containers);
    }, patience);
  /** For 10 s, which on a slow machine are over for some before others get there: then their times tell. */
  const hasBackedOff = ({ restartCount, state, lastState }: ContainerStatus): boolean => {
    if (restartCount === 1) return state?.waiting?.reason === 'CrashLoopBackOff';
    const started = Date.parse(state?.running?.startedAt ?? '');
    return restartCount === 2 && started - Date.parse(lastState?.terminated?.finishedAt ?? '') >= 10_000;
  };
  const crashAll = () => {
    for (const { config, state } of [...kubelet.runtime.containers.values()])
      if (state === 'CONTAINER_RUNNING') kubelet.runtime.exit(config.metadata?.name ?? '', 1);
  };

  it(
    'are each restarted once, back off then, and stop neither the node nor a new Pod',
    async () => {
      await Promise.all(
        Array.from({ length: containers / perPod }, (_, pod) =>
          kubelet.create(
            `storm-${pod}`,
            {
              containers: Array.from({ length: perPod }, (_, i) => ({
                name: `c-${pod}-${i}`,
                image: 'busybox',
              })),
            },
            { labels: { storm: 'yes' } },
          ),
        ),
      );
      await all((status) => status.state?.running !== undefined);
      crashAll();
      await all(({ restartCount, state }) => restartCount === 1 && state?.running !== undefined);
      crashAll();
      await kubelet.create('calm');
      await all(hasBackedOff);
      await eventually(
        async () => expect((await kubelet.get('calm')).status?.phase).toBe('Running'),
        patience,
      );
      const { status } = await kubelet.client.for(Nodes).get(nodeName);
      expect(status?.conditions?.find((c) => c.type === 'Ready')?.status).toBe('True');
    },
    patience.timeoutMs * 5,
  );
});
