// Clients that work on Pods through real HTTPS; how fast they get on, and when watchers hear of it.
import { HttpsClient } from './https-client.mjs';
import { ServerProbe } from './server-probe.mjs';
import { startWatchers } from './watch-clients.mjs';

const namespace = 'bench-api';
export const podsPath = `/api/v1/namespaces/${namespace}/pods`;
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

export class PodLoad {
  /** `target`: `{ access, pids, isNode }`, `access` as `readKubeconfig` returns it. */
  constructor(target) {
    this.access = target.access;
    this.client = new HttpsClient(target.access, { sockets: concurrency });
    this.watcher = new HttpsClient(target.access, { sockets: Infinity });
    this.probe = new ServerProbe(this.client, target);
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
  }

  /** So many operations of each kind; what they made is deleted again. */
  async warmUp(count) {
    await this.measure('', count, (i) => this.create(`warm-${i}`));
    await this.measure('', count, (i) => this.get(`warm-${i}`));
    await this.measure('', count, (i) => this.patch(`warm-${i}`));
    await this.measure('', count, (i) => this.delete(`warm-${i}`));
  }

  create(name) {
    return this.client.request('POST', podsPath, { body: pod(name) });
  }

  get(name) {
    return this.client.request('GET', `${podsPath}/${name}`);
  }

  patch(name) {
    const body = JSON.stringify({ metadata: { labels: { patched: 'yes' } } });
    return this.client.request('PATCH', `${podsPath}/${name}`, {
      body,
      type: 'application/merge-patch+json',
    });
  }

  delete(name) {
    const body = JSON.stringify({ apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds: 0 });
    return this.client.request('DELETE', `${podsPath}/${name}`, { body });
  }

  /** Runs an operation `count` times, `width` at once. */
  async measure(label, count, operation, width = concurrency) {
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
    return { label, count, perSecond: (count / elapsed) * 1000, p50: at(times, 0.5), p99: at(times, 0.99) };
  }

  /** Raw frames that reach all watchers while Pods are created. The server's share is counted from the first create. */
  async fanOut({ watchers, creates, prefix }) {
    const count = watchers * creates;
    const clients = await startWatchers(this.access, { path: await this.#watchPath(), count: watchers });
    try {
      return await this.probe.during(async () => {
        const start = performance.now();
        const all = clients.received(count);
        await this.measure('', creates, (i) => this.create(`${prefix}-${i}`));
        await all;
        const perSecond = (count / (performance.now() - start)) * 1000;
        return { label: `watch events to ${watchers} watchers`, count, perSecond };
      });
    } finally {
      await clients.stop();
    }
  }

  /** How long after a create was sent a watcher has its event, when nothing else happens; milliseconds. */
  async eventLatency(creates, prefix) {
    let arrived;
    const stop = await this.watcher.watch(await this.#watchPath(), () => arrived());
    const times = [];
    for (let i = 0; i < creates; i++) {
      const event = new Promise((resolve) => (arrived = resolve));
      const start = performance.now();
      const created = this.create(`${prefix}-${i}`);
      await event;
      times.push(performance.now() - start);
      await created;
    }
    stop();
    times.sort((a, b) => a - b);
    return at(times, 0.5);
  }

  async cleanUp() {
    await this.client.request('DELETE', `/api/v1/namespaces/${namespace}`);
    this.client.close();
    this.watcher.close();
  }

  async #watchPath() {
    const { metadata } = JSON.parse(await this.client.request('GET', `${podsPath}?limit=1`));
    return `${podsPath}?watch=1&resourceVersion=${metadata.resourceVersion}`;
  }
}
