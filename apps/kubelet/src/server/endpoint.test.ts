import { appendFile, mkdir, writeFile } from 'node:fs/promises';
import type { ClientConfig } from '@tinkernetes/client';
import { eventually } from '@tinkernetes/component-base/testing';
import { get as httpsGet, request as httpsRequest, type RequestOptions } from 'node:https';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { KubeletFixture } from '../testing/kubelet-fixture';
import { subresourcesOf } from './auth';

describe("the kubelet's server", () => {
  let kubelet: KubeletFixture;
  let apiServerIdentity: ClientConfig;

  beforeAll(async () => {
    kubelet = await KubeletFixture.create();
    await kubelet.start();
    await kubelet.assignPodCIDR();
    apiServerIdentity = await kubelet.apiServer.configFor('kube-apiserver-kubelet-client', 'system:masters');
    await kubelet.create('web');
    await kubelet.phase('web', 'Running');
  });
  afterAll(() => kubelet.close());

  const optionsOf = (path: string, who: Pick<ClientConfig, 'certData' | 'keyData'>) => ({
    host: '127.0.0.1',
    port: kubelet.port,
    path,
    cert: who.certData,
    key: who.keyData,
    rejectUnauthorized: false,
    agent: false as const,
  });
  const ask = (options: RequestOptions) =>
    new Promise<{ code: number; body: string }>((resolve, reject) => {
      httpsRequest(options, (response) => {
        let body = '';
        response.on('data', (chunk: Buffer) => (body += chunk.toString()));
        response.on('end', () => resolve({ code: response.statusCode ?? 0, body }));
      })
        .on('error', reject)
        .end();
    });
  const get = (path: string, who: Pick<ClientConfig, 'certData' | 'keyData'> = apiServerIdentity) =>
    ask(optionsOf(path, who));

  it('lets nobody in without a certificate, and only those who may', async () => {
    expect((await get('/pods', {})).code).toBe(401);
    const nobody = await kubelet.apiServer.configFor('nobody');
    expect(await get('/pods', nobody)).toEqual({
      code: 403,
      body: 'Forbidden (user=nobody, verb=get, resource=nodes, subresource(s)=[proxy])',
    });
  });

  it.each([
    ['/stats/summary', ['stats']],
    ['/metrics/cadvisor', ['metrics']],
    ['/pods', ['pods', 'proxy']],
    ['/healthz', ['healthz', 'proxy']],
    ['/exec/default/web/c', ['proxy']],
  ])('asks for the right to %s by %j', (path, expected) => {
    expect(subresourcesOf(path)).toEqual(expected);
  });

  it('lists the pods as the node knows them', async () => {
    const { items } = JSON.parse((await get('/pods')).body) as {
      items: { metadata: { name: string }; status: { phase: string } }[];
    };
    expect(items.map((p) => [p.metadata.name, p.status.phase])).toEqual([['web', 'Running']]);
  });

  it('tells its configuration', async () => {
    const { kubeletconfig } = JSON.parse((await get('/configz')).body) as { kubeletconfig: object };
    expect(kubeletconfig).toMatchObject({
      kind: 'KubeletConfiguration',
      apiVersion: 'kubelet.config.k8s.io/v1beta1',
      maxPods: 110,
      syncFrequency: '20s',
      eventRecordQPS: 50,
      evictionHard: { 'memory.available': '0%' },
    });
  });

  it('summarises what the node and its Pods use', async () => {
    const summary = JSON.parse((await get('/stats/summary')).body) as {
      node: {
        nodeName: string;
        memory: { workingSetBytes: number };
        fs: { capacityBytes: number; availableBytes: number };
      };
      pods: Array<{
        podRef: { name: string };
        containers: Array<{ name: string; memory: object; cpu: object }>;
      }>;
    };
    expect(summary.node.nodeName).toBe('node-1');
    expect(summary.node.memory.workingSetBytes).toBeGreaterThan(0);
    expect(summary.node.fs.capacityBytes).toBeGreaterThan(summary.node.fs.availableBytes);
    expect(summary.pods).toMatchObject([
      {
        podRef: { name: 'web', namespace: 'default' },
        containers: [
          {
            name: 'web-main',
            cpu: { usageCoreNanoSeconds: 3e9, usageNanoCores: 5e6 },
            memory: { workingSetBytes: 7 * 1024 * 1024 },
          },
        ],
      },
    ]);
  });

  it.each([
    [
      '/metrics/cadvisor',
      /^container_memory_working_set_bytes\{container="web-main",.*namespace="default",pod="web"\} 7340032$/m,
    ],
    ['/metrics/cadvisor', /^container_cpu_usage_seconds_total\{container="web-main",.*\} 3$/m],
    [
      '/metrics/cadvisor',
      /^container_threads\{id="\/kubepods\/pod.*image="busybox:latest",container="web-main",namespace="default",pod="web"\} 4$/m,
    ],
    ['/metrics/resource', /^pod_memory_working_set_bytes\{namespace="default",pod="web"\} 7340032$/m],
    ['/metrics/resource', /^node_memory_working_set_bytes [1-9]\d*$/m],
    ['/metrics', /^# TYPE \S+ (counter|gauge|histogram)$/m],
  ])('measures at %s: %p', async (path, line) => {
    const { code, body } = await get(path);
    expect(code).toBe(200);
    expect(body).toMatch(line);
  });

  it('streams the log of a container while it runs', async () => {
    const container = kubelet.runtime.container('web-main');
    await appendFile(container?.logPath ?? '', '2026-01-01T00:00:00.000000001Z stdout F hello\n');
    expect(await get('/containerLogs/default/web/web-main')).toEqual({ code: 200, body: 'hello\n' });
    let body = '';
    let ended = false;
    httpsGet(optionsOf('/containerLogs/default/web/web-main?follow=true', apiServerIdentity), (response) => {
      response.on('data', (chunk: Buffer) => (body += chunk.toString()));
      response.on('end', () => (ended = true));
    });
    await eventually(() => body === 'hello\n');
    await appendFile(container?.logPath ?? '', '2026-01-01T00:00:01.000000001Z stdout F again\n');
    await eventually(() => body === 'hello\nagain\n');
    kubelet.runtime.exit('web-main', 0);
    await eventually(() => ended);
  });

  it.each([
    ['/containerLogs/default/absent/c', 404, 'pod does not exist'],
    ['/containerLogs/default/web/absent', 404, 'container "absent" not found in pod "web"'],
    ['/nothing', 404, '404 page not found'],
    ['/checkpoint/default/web/web-main', 405, 'Method Not Allowed'],
    ['/exec/default/web/web-main', 400, 'unable to upgrade: missing upgrade headers in request'],
  ])('answers %s with %d', async (path, code, body) => {
    expect(await get(path)).toEqual({ code, body });
  });

  it('shows log files and directories of the node, and nothing beside them', async () => {
    const logs = join(kubelet.directory, 'root/log/own');
    await mkdir(logs, { recursive: true });
    await writeFile(join(logs, 'a&b.log'), 'line\n');
    expect((await get('/logs/')).body).toContain('<a href="own/">own/</a>\n');
    expect((await get('/logs/own/')).body).toContain('<a href="a&b.log">a&amp;b.log</a>\n');
    expect(await get('/logs/own/a&b.log')).toEqual({ code: 200, body: 'line\n' });
    await writeFile(join(logs, 'empty.log'), '');
    expect(await get('/logs/own/empty.log')).toEqual({ code: 200, body: '' });
    await mkdir(join(logs, 'größe\n'));
    expect((await get('/logs/own/gr%C3%B6%C3%9Fe%0A')).code).toBe(301);
    expect((await get('/logs/own')).code).toBe(301);
    for (const path of ['/logs/none', '/logs/..%2fallocated_pods_state', '/logs/own/a&b.log/x'])
      expect(await get(path)).toEqual({ code: 404, body: '404 page not found\n' });
  });

  it.each([
    ['web-main', /^checkpointing of default\/web\/web-main failed \(rpc error: code = Unimplemented desc = /],
    ['none', /^container none does not exist$/],
  ])('hands the wish for a checkpoint of %s to the runtime, which may refuse it', async (name, message) => {
    const path = `/checkpoint/default/web/${name}`;
    const { body } = await ask({ ...optionsOf(path, apiServerIdentity), method: 'POST' });
    expect(body).toMatch(message);
  });

  it('counts the probes of what runs', async () => {
    await kubelet.create('probed', {
      containers: [
        { name: 'probed-main', image: 'busybox', readinessProbe: { exec: { command: ['true'] } } },
      ],
    });
    await eventually(async () =>
      expect((await get('/metrics/probes')).body).toMatch(
        /^prober_probe_total\{container="probed-main",namespace="default",pod="probed",pod_uid=".+",probe_type="Readiness",result="successful"\} [1-9]/m,
      ),
    );
  });

  describe('/dial', () => {
    let echo: Server;
    let port: number;

    beforeAll(async () => {
      echo = createServer((socket) => socket.pipe(socket));
      await new Promise<void>((resolve) => echo.listen(0, '127.0.0.1', resolve));
      ({ port } = echo.address() as AddressInfo);
    });
    afterAll(() => new Promise((resolve) => echo.close(resolve)));

    const dial = (target: string) =>
      new Promise<Duplex | number>((resolve, reject) => {
        const headers = { connection: 'Upgrade', upgrade: 'tcp' };
        const request = httpsGet({ ...optionsOf(`/dial?${target}`, apiServerIdentity), headers });
        request.on('upgrade', (_response, socket: Duplex) => resolve(socket));
        request.on('response', (response) => {
          response.resume();
          resolve(response.statusCode ?? 0);
        });
        request.on('error', reject);
      });

    it("joins the client to an address in the node's network", async () => {
      const socket = await dial(`host=127.0.0.1&port=${port}`);
      if (typeof socket === 'number') throw new Error(`answered ${socket}`);
      let seen = '';
      socket.on('data', (chunk: Buffer) => (seen += chunk.toString()));
      socket.write('ping');
      await eventually(() => seen === 'ping');
      socket.destroy();
    });

    it('says when nobody listens there', async () => {
      expect(await dial('host=127.0.0.1&port=1')).toBe(502);
      expect(await dial('host=127.0.0.1')).toBe(400);
    });
  });
});
