import { createClient, type Client } from '@tinkernetes/client';
import { eventually, freePort, type StartedComponent } from '@tinkernetes/component-base/testing';
import { startApiServer, type TestApiServer } from '@tinkernetes/testing';
import { asking, createPod, createReadyNode, getPod } from '../testing/api-objects';
import { startScheduler } from '../testing/running-scheduler';

describe('metrics', () => {
  let server: TestApiServer;
  let client: Client;
  let scheduler: StartedComponent;
  let port: number;

  beforeAll(async () => {
    server = await startApiServer({ flags: ['--disable-admission-plugins=ServiceAccount'] });
    client = createClient(server.adminConfig);
    await createReadyNode(client, 'node-1');
    port = await freePort();
    scheduler = await startScheduler(await server.configFor('system:kube-scheduler'), [
      '--leader-elect=false',
      `--secure-port=${port}`,
    ]);
  });
  afterAll(async () => {
    await scheduler.stop();
    client.close();
    await server.stop();
  });

  it('are exposed under upstream’s names', async () => {
    await createPod(client, 'small');
    await createPod(client, 'large', asking('1000'));
    await eventually(async () => expect((await getPod(client, 'small')).spec?.nodeName).toBe('node-1'));
    const exposed = async () => {
      const response = await fetch(`http://127.0.0.1:${port}/metrics`, { headers: { connection: 'close' } });
      return response.text();
    };
    const profile = 'profile="default-scheduler"';
    const text = await eventually(async () => {
      const lines = await exposed();
      expect(lines).toContain('scheduler_pending_pods{queue="unschedulable"} 1');
      expect(lines).toContain(`scheduler_schedule_attempts_total{result="scheduled",${profile}} 1`);
      return lines;
    });
    for (const line of [
      `scheduler_schedule_attempts_total{result="unschedulable",${profile}} 1`,
      `scheduler_scheduling_attempt_duration_seconds_count{result="scheduled",${profile}} 1`,
      'scheduler_scheduling_algorithm_duration_seconds_count 2',
      'scheduler_queue_incoming_pods_total{queue="active",event="PodAdd"} 2',
      'scheduler_pod_scheduling_attempts_count 1',
      'scheduler_cache_size{type="nodes"} 1',
      `scheduler_framework_extension_point_duration_seconds_count{extension_point="Filter",status="Success",${profile}} 1`,
      `scheduler_framework_extension_point_duration_seconds_count{extension_point="PostFilter",status="Unschedulable",${profile}} 1`,
      `scheduler_framework_extension_point_duration_seconds_count{extension_point="Bind",status="Success",${profile}} 1`,
    ])
      expect(text).toContain(line);
    expect(text).toContain('# TYPE scheduler_preemption_victims histogram');
  });
});
