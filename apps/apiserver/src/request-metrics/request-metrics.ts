import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { ApiRequest, RequestInfo } from '../contracts';
import { isLongRunning, kindOf } from '../flow-control/work-estimate';
import { AuthenticationMetrics } from './authentication-metrics';
import { reportedDryRun, reportedPath, reportedScope, reportedVerb } from './request-labels';
import { counts, distributions, type Count, type Distribution, type SeriesLabels } from './series';

const durationBounds = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
];
const sizeBounds = [1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9];
const eventSizeBounds = Array.from({ length: 8 }, (_, i) => 1024 * 2 ** i);

/** Of watches upstream counts nothing: their frames bypass what counts. */
const sized: ReadonlySet<string> = new Set(['GET', 'LIST', 'WATCH']);

/** What requests of one kind count up. */
interface RouteSeries {
  readonly verb: string;
  /** How many there are now: of requests that last by route, of others by whether they only read. */
  readonly running: Count;
  readonly durations: Distribution;
  readonly sizes: Distribution | undefined;
  readonly codes: Map<number, Count>;
  readonly countOf: (code: number) => Count;
}

type CountedRequest = Pick<ApiRequest, 'info' | 'raw' | 'query'>;

/** One request that has a handler. */
export class RunningRequest {
  private readonly writtenBefore: number;

  constructor(
    private readonly route: RouteSeries,
    private readonly socket: Socket,
  ) {
    route.running.value += 1;
    this.writtenBefore = route.verb === 'LIST' ? socket.bytesWritten : 0;
  }

  ended(response: ServerResponse, { code, seconds }: { code: number; seconds: number }): void {
    const { route } = this;
    route.running.value -= 1;
    route.durations.observe(seconds);
    let count = route.codes.get(code);
    if (!count) route.codes.set(code, (count = route.countOf(code)));
    count.value += 1;
    if (route.sizes) this.measure(route.sizes, response);
  }

  /** A list that is streamed is as long as what went over its connection, with a few hundred bytes of headers. */
  private measure(sizes: Distribution, response: ServerResponse): void {
    const length = response.getHeader('content-length');
    if (this.route.verb === 'WATCH') sizes.observe(0);
    else if (length !== undefined) sizes.observe(Number(length));
    else if (this.route.verb !== 'LIST' || response.closed) sizes.observe(0);
    else response.once('close', () => sizes.observe(this.socket.bytesWritten - this.writtenBefore));
  }
}

/**
 * Requests that reached a handler, watch events and authentication, under upstream's names. Every request counts, so the
 * series are resolved once for each kind of request. Source: k8s.io/apiserver/pkg/endpoints/metrics.
 */
export class RequestMetrics {
  readonly authentication = new AuthenticationMetrics();
  private readonly routes = new Map<string, RouteSeries>();
  private readonly total = counts(
    'apiserver_request_total',
    'Counter of apiserver requests broken out for each verb, dry run value, group, version, resource, scope, component, and HTTP response code.',
  );
  private readonly durations = distributions(
    'apiserver_request_duration_seconds',
    'Response latency distribution in seconds for each verb, dry run value, group, version, resource, subresource, scope and component.',
    durationBounds,
  );
  private readonly sizes = distributions(
    'apiserver_response_sizes',
    'Response size distribution in bytes for each group, version, verb, resource, subresource, scope and component.',
    sizeBounds,
  );
  private readonly running = counts(
    'apiserver_longrunning_requests',
    'Gauge of all active long-running apiserver requests broken out by verb, group, version, resource, scope and component. Not all requests are tracked this way.',
    'gauge',
  );
  private readonly inFlight = counts(
    'apiserver_current_inflight_requests',
    'Number of requests of this apiserver that are being served now per request kind.',
    'gauge',
  );
  private readonly events = counts('apiserver_watch_events_total', 'Number of events sent in watch clients');
  private readonly eventSizes = distributions(
    'apiserver_watch_events_sizes',
    'Watch event size distribution in bytes',
    eventSizeBounds,
  );

  /** A request that has a handler begins. */
  begun(request: CountedRequest): RunningRequest {
    return new RunningRequest(this.routeOf(request), request.raw.socket);
  }

  /** A request was refused because there are too many. */
  dropped(request: CountedRequest): void {
    this.routeOf(request).countOf(429).value += 1;
  }

  /** For one watcher, which tells the size of each event. */
  watchEvents({ apiGroup: group, apiVersion: version, resource }: RequestInfo): (bytes: number) => void {
    const labels = { group, version, resource };
    const [events, sizes] = [this.events.with(labels), this.eventSizes.with(labels)];
    return (bytes) => {
      events.value += 1;
      sizes.observe(bytes);
    };
  }

  /** The exposition text. */
  expose(): string {
    const { total, durations, sizes, running, inFlight, events, eventSizes, authentication } = this;
    const families = [total, durations, sizes, running, inFlight, events, eventSizes];
    return [...families.map((family) => family.expose()), authentication.expose()].join('\n');
  }

  private routeOf({ info, raw, query }: CountedRequest): RouteSeries {
    const verb = reportedVerb(info, raw);
    const scope = reportedScope(info);
    const dryRun = query.size === 0 ? '' : reportedDryRun(query);
    const path = info.isResourceRequest ? info.subresource : reportedPath(info.path);
    // A watch of one name counts as such only while it runs.
    const runningScope = info.name ? 'resource' : scope;
    const key = `${verb} ${info.apiGroup}/${info.apiVersion}/${info.resource}/${path} ${scope} ${runningScope} ${dryRun}`;
    const known = this.routes.get(key);
    if (known) return known;
    const labels: SeriesLabels = {
      verb,
      group: info.apiGroup,
      version: info.apiVersion,
      resource: info.resource,
      subresource: path,
      scope,
      component: info.isResourceRequest ? 'apiserver' : '',
    };
    const created: RouteSeries = {
      verb,
      running: isLongRunning(info)
        ? this.running.with({ ...labels, scope: runningScope })
        : this.inFlight.with({ request_kind: kindOf(info) }),
      durations: this.durations.with({ ...labels, dry_run: dryRun }),
      sizes: sized.has(verb) ? this.sizes.with(labels) : undefined,
      codes: new Map(),
      countOf: (code) => this.total.with({ ...labels, dry_run: dryRun, code: String(code) }),
    };
    this.routes.set(key, created);
    return created;
  }
}
