import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createSelfSignedCertificate } from '@tinkernetes/pki';

const groups = { custom: 'custom.metrics.k8s.io', external: 'external.metrics.k8s.io' } as const;
const versions = { custom: 'v1beta2', external: 'v1beta1' } as const;

/** A metrics adapter: serves the custom and external metrics APIs with the values that a test sets. */
export class MetricsServer {
  /** `METRIC` of the namespace default → value of an external metric. */
  readonly external = new Map<string, string>();
  /** `PLURAL.GROUP/NAME/METRIC` of the namespace default → value; for all Pods `pods/*` with one value. */
  readonly objects = new Map<string, string>();
  /** The names of the Pods that `pods/*` stands for. */
  pods: readonly string[] = [];

  private constructor(private readonly server: Server) {}

  static async start(): Promise<MetricsServer> {
    const pair = await createSelfSignedCertificate({
      commonName: 'adapter',
      dnsNames: ['adapter.default.svc'],
      usages: ['serverAuth'],
      now: Date.now(),
    });
    const server = createServer({ cert: pair.certificate, key: pair.key });
    const adapter = new MetricsServer(server);
    server.on('request', (request, response) => {
      const document = adapter.answer(new URL(request.url ?? '/', 'https://adapter').pathname);
      response.writeHead(document ? 200 : 404, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify(document ?? { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: 404 }),
      );
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
    return adapter;
  }

  stop(): void {
    this.server.close();
    this.server.closeAllConnections();
  }

  /** What makes it part of a cluster's API. */
  get objectsToApply(): object[] {
    return [
      { apiVersion: 'v1', kind: 'Service', metadata: { name: 'adapter' }, spec: { ports: [{ port: 443 }] } },
      {
        apiVersion: 'discovery.k8s.io/v1',
        kind: 'EndpointSlice',
        metadata: { name: 'adapter', labels: { 'kubernetes.io/service-name': 'adapter' } },
        addressType: 'IPv4',
        // An address of the emulated network between machines, which is this one.
        endpoints: [{ addresses: ['172.30.0.1'], conditions: { ready: true } }],
        ports: [{ name: '', port: (this.server.address() as AddressInfo).port, protocol: 'TCP' }],
      },
      ...(['custom', 'external'] as const).map((api) => ({
        apiVersion: 'apiregistration.k8s.io/v1',
        kind: 'APIService',
        metadata: { name: `${versions[api]}.${groups[api]}` },
        spec: {
          group: groups[api],
          version: versions[api],
          groupPriorityMinimum: 100,
          versionPriority: 100,
          insecureSkipTLSVerify: true,
          service: { namespace: 'default', name: 'adapter' },
        },
      })),
    ];
  }

  private answer(path: string): object | undefined {
    const api = (['custom', 'external'] as const).find((name) =>
      path.startsWith(`/apis/${groups[name]}/${versions[name]}`),
    );
    if (!api) return undefined;
    const groupVersion = `${groups[api]}/${versions[api]}`;
    const rest = path.slice(`/apis/${groupVersion}`.length);
    if (rest === '') return { kind: 'APIResourceList', apiVersion: 'v1', groupVersion, resources: [] };
    const name = rest.replace('/namespaces/default/', '');
    const timestamp = new Date().toISOString();
    if (api === 'external') {
      const value = this.external.get(name);
      const items = value === undefined ? [] : [{ metricName: name, metricLabels: {}, timestamp, value }];
      return { kind: 'ExternalMetricValueList', apiVersion: groupVersion, metadata: {}, items };
    }
    const value = this.objects.get(name);
    if (value === undefined) return undefined;
    const described = name.startsWith('pods/*/') ? this.pods : [name.split('/')[1]];
    const items = described.map((object) => ({
      describedObject: { name: object },
      metric: {},
      timestamp,
      value,
    }));
    return { kind: 'MetricValueList', apiVersion: groupVersion, metadata: {}, items };
  }
}
