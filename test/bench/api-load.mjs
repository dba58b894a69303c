// The loads of bench:api. Each step returns operations per second and the times of single operations.
import { HttpsClient } from './https-client.mjs';

const namespace = 'bench-api';
const pods = `/api/v1/namespaces/${namespace}/pods`;
const concurrency = 16;

/** A Pod of the size that a Deployment makes; no scheduler takes it. */
const pod = (name) =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      labels: { app: `app-${name.length % 3}`, bench: 'api', half: String(name.at(-1) % 2) },
    },
    spec: {
      schedulerName: 'nobody',
      automountServiceAccountToken: false,
      containers: [
        {
          name: 'web',
          image: 'nginx:1.27',
          ports: [{ containerPort: 80 }],
          env: [{ name: 'MODE', value: 'benchmark' }],
          resources: { requests: { cpu: '100m', memory: '64Mi' }, limits: { memory: '128Mi' } },
        },
      ],
    },
  });

const at = (sorted, quantile) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * quantile))];

export class ApiLoad {
  constructor(kubeconfig, size) {
    this.client = new HttpsClient(kubeconfig, { sockets: concurrency });
    this.watcher = new HttpsClient(kubeconfig, { sockets: Infinity });
    this.size = size;
    this.steps = ['create', 'get', 'patch', 'list', 'page', 'watch', 'delete'];
  }

  async prepare() {
    const request = (path, body) => this.client.request('POST', path, { body: JSON.stringify(body) });
    await request('/api/v1/namespaces', { metadata: { name: namespace } });
    // Without a controller manager nobody makes it, and Pods are refused without.
    await request(`/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name: 'default' } }).catch(
      (error) => {
        if (!String(error).includes('409')) throw error;
      },
    );
    for (let i = 0; i < 100; i++) await this.#create(`warm-${i}`);
    for (let i = 0; i < 100; i++) await this.#delete(`warm-${i}`);
    await this.eventLoopLag();
  }

  run(step) {
    const { pods: count, watchers } = this.size;
    switch (step) {
      case 'create':
        return this.#measure(`create`, count, (i) => this.#create(`pod-${i}`));
      case 'get':
        return this.#measure('get', count, (i) => this.client.request('GET', `${pods}/pod-${i}`));
      case 'patch':
        return this.#measure('patch a label', count, (i) => this.#patch(`pod-${i}`));
      case 'list':
        return this.#measure(`list ${count} Pods`, 20, () => this.client.request('GET', pods), 1);
      case 'page':
        return this.#measure('list by label, limit 100', 200, () =>
          this.client.request('GET', `${pods}?labelSelector=half%3D1&limit=100`),
        );
      case 'watch':
        return this.#fanOut(watchers);
      case 'delete':
        return this.#measure('delete', count, (i) => this.#delete(`pod-${i}`));
    }
  }

  /** The longest block since this was asked last, as the server tells; only ours has the metric. */
  async eventLoopLag() {
    const text = String(await this.client.request('GET', '/metrics'));
    const seconds = Number(/^nodejs_eventloop_lag_max_seconds(?:\{[^}]*\})? (\S+)/m.exec(text)?.[1]);
    return Number.isFinite(seconds) ? `${(seconds * 1000).toFixed(0)} ms at most` : 'not told';
  }

  async cleanUp() {
    await this.client.request('DELETE', `/api/v1/namespaces/${namespace}`);
    this.client.close();
    this.watcher.close();
  }

  #create(name) {
    return this.client.request('POST', pods, { body: pod(name) });
  }

  #patch(name) {
    const body = JSON.stringify({ metadata: { labels: { patched: 'yes' } } });
    return this.client.request('PATCH', `${pods}/${name}`, { body, type: 'application/merge-patch+json' });
  }

  #delete(name) {
    const body = JSON.stringify({ apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds: 0 });
    return this.client.request('DELETE', `${pods}/${name}`, { body });
  }

  async #measure(label, count, operation, width = concurrency) {
    const times = [];
    let next = 0;
    const start = performance.now();
    await Promise.all(
      Array.from({ length: width }, async () => {
        while (next < count) {
          const i = next++;
          const before = performance.now();
          await operation(i);
          times.push(performance.now() - before);
        }
      }),
    );
    const elapsed = performance.now() - start;
    times.sort((a, b) => a - b);
    return { label, perSecond: (count / elapsed) * 1000, p50: at(times, 0.5), p99: at(times, 0.99) };
  }

  /** Raw frames that reach all watchers while Pods are created. */
  async #fanOut(watchers) {
    const expected = watchers * this.size.watchedCreates;
    let received = 0;
    let done;
    const all = new Promise((resolve) => (done = resolve));
    const { metadata } = JSON.parse(await this.client.request('GET', `${pods}?limit=1`));
    const path = `${pods}?watch=1&resourceVersion=${metadata.resourceVersion}`;
    const onLines = (lines) => {
      received += lines;
      if (received >= expected) done();
    };
    const stops = [];
    for (let i = 0; i < watchers; i++) stops.push(await this.watcher.watch(path, onLines));
    const start = performance.now();
    await this.#measure('', this.size.watchedCreates, (i) => this.#create(`watched-${i}`));
    await all;
    const perSecond = (expected / (performance.now() - start)) * 1000;
    for (const stop of stops) stop();
    return { label: `watch events to ${watchers} watchers`, perSecond };
  }
}
