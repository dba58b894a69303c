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
    this.count = 0;
    const { pods: few, many } = size;
    this.steps = {
      create: () => this.#measure('create', few, (i) => this.#create(`pod-${i}`)),
      get: () => this.#measure('get', few, (i) => this.client.request('GET', `${pods}/pod-${i}`)),
      patch: () => this.#measure('patch a label', few, (i) => this.#patch(`pod-${i}`)),
      list: () => this.#list(few, 20),
      page: () => this.#page(few),
      ...Object.fromEntries(
        size.watchers.map((watchers) => [`watch-${watchers}`, () => this.#fanOut(watchers)]),
      ),
      delete: () => this.#measure('delete', few, (i) => this.#delete(`pod-${i}`)),
      ...(many && {
        fill: () => this.#measure(`create until there are ${many}`, many, (i) => this.#create(`many-${i}`)),
        'list-many': () => this.#list(many, 5),
        'table-many': () => this.#list(many, 3, 'Table'),
        'page-many': () => this.#page(many),
      }),
    };
  }

  /** Both servers get the same chance to warm up: what runs for days is compared, not what has just started. */
  async prepare() {
    const request = (path, body) => this.client.request('POST', path, { body: JSON.stringify(body) });
    await request('/api/v1/namespaces', { metadata: { name: namespace } });
    // Without a controller manager nobody makes it, and Pods are refused without.
    await request(`/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name: 'default' } }).catch(
      (error) => {
        if (!String(error).includes('409')) throw error;
      },
    );
    const warmUp = (operation) => this.#measure('', this.size.warmUp, operation);
    await warmUp((i) => this.#create(`warm-${i}`));
    await warmUp((i) => this.client.request('GET', `${pods}/warm-${i}`));
    await warmUp((i) => this.#patch(`warm-${i}`));
    await warmUp((i) => this.#delete(`warm-${i}`));
    await this.server();
  }

  /** What the server tells of itself: CPU seconds, resident MB, longest block of its event loop since asked last. */
  async server() {
    const text = String(await this.client.request('GET', '/metrics'));
    const value = (name) => Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)`, 'm').exec(text)?.[1]);
    return {
      cpuSeconds: value('process_cpu_seconds_total'),
      residentMB: value('process_resident_memory_bytes') / 1024 / 1024,
      lagMs: value('nodejs_eventloop_lag_max_seconds') * 1000,
    };
  }

  /** One step, with what the server spent on it. */
  async run(step) {
    const before = await this.server();
    const result = await this.steps[step]();
    const after = await this.server();
    return {
      ...result,
      cpuMs: ((after.cpuSeconds - before.cpuSeconds) * 1000) / result.count,
      lagMs: after.lagMs,
      residentMB: after.residentMB,
    };
  }

  /** Creates so many Pods more; one watcher sees them. Returns the server's CPU time for each, in milliseconds. */
  async grow(count) {
    const before = await this.server();
    let received = 0;
    let done;
    const all = new Promise((resolve) => (done = resolve));
    const { metadata } = JSON.parse(await this.client.request('GET', `${pods}?limit=1`));
    const path = `${pods}?watch=1&resourceVersion=${metadata.resourceVersion}`;
    const stop = await this.watcher.watch(path, (lines) => (received += lines) >= count && done());
    const { perSecond } = await this.#measure('', count, () => this.#create(`grown-${this.count++}`));
    await all;
    stop();
    const after = await this.server();
    return { perSecond, cpuMs: ((after.cpuSeconds - before.cpuSeconds) * 1000) / count, ...after };
  }

  async cleanUp() {
    await this.client.request('DELETE', `/api/v1/namespaces/${namespace}`);
    this.client.close();
    this.watcher.close();
  }

  #list(count, times, transform) {
    const label = `list ${count} Pods${transform ? ` as a ${transform}` : ''}`;
    const accept = transform ? `application/json;as=${transform};v=v1;g=meta.k8s.io` : 'application/json';
    return this.#measure(label, times, () => this.client.request('GET', pods, { accept }), 1);
  }

  #page(count) {
    return this.#measure(`list by label, limit 100, of ${count}`, 200, () =>
      this.client.request('GET', `${pods}?labelSelector=half%3D1&limit=100`),
    );
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
    return { label, count, perSecond: (count / elapsed) * 1000, p50: at(times, 0.5), p99: at(times, 0.99) };
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
    // Some at a time: each needs a TLS handshake.
    while (stops.length < watchers) {
      const opening = Math.min(10, watchers - stops.length);
      stops.push(
        ...(await Promise.all(Array.from({ length: opening }, () => this.watcher.watch(path, onLines)))),
      );
    }
    const start = performance.now();
    await this.#measure('', this.size.watchedCreates, (i) => this.#create(`watched-${watchers}-${i}`));
    await all;
    const perSecond = (expected / (performance.now() - start)) * 1000;
    for (const stop of stops) stop();
    return { label: `watch events to ${watchers} watchers`, count: expected, perSecond };
  }
}
