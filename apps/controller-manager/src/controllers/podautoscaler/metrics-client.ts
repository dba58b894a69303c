import type { CrossVersionObjectReference, LabelSelector } from '@tinkernetes/api';
import { isNotFound, Quantity, selectorOf } from '@tinkernetes/apimachinery';
import type { Client } from '@tinkernetes/client';
import { parseDuration, type Clock } from '@tinkernetes/component-base';
import type { KindMapper } from './kind-mapper';
import type { PodSample, PodSamples } from './pod-groups';

const resourcePath = '/apis/metrics.k8s.io/v1beta1';
const externalPath = '/apis/external.metrics.k8s.io/v1beta1';
const customGroup = 'custom.metrics.k8s.io';
/** Newest first: the first that the server has is asked. */
const customVersions = ['v1beta2', 'v1beta1'];
/** How long it holds which version there is. */
const versionKeptMs = 30_000;
/** Of custom metrics that name none. */
const defaultWindowMs = 60_000;

interface PodMetricsList {
  items: {
    metadata: { name: string };
    timestamp: string;
    window: string;
    containers: { name: string; usage: Record<string, string> }[];
  }[];
}
interface MetricValueList {
  items: {
    describedObject: { name: string };
    timestamp: string;
    windowSeconds?: number;
    /** v1beta1 says `window`. */
    window?: number;
    value: string;
  }[];
}
interface ExternalMetricValueList {
  items: { value: string }[];
}

const milli = (quantity: string): number => Quantity.parse(quantity).milliValue();
const query = (parameters: Record<string, string>): string => {
  const set = Object.entries(parameters).filter(([, value]) => value !== '');
  return set.length > 0 ? `?${new URLSearchParams(set).toString()}` : '';
};
const selectorText = (selector: LabelSelector | undefined): string =>
  selector ? selectorOf(selector).toString() : '';

/**
 * The three metrics APIs. Values are thousandths; messages are upstream's.
 * Source: pkg/controller/podautoscaler/metrics/client.go.
 */
export class MetricsClient {
  private customVersion: { version: string; until: number } | undefined;

  constructor(
    private readonly client: Pick<Client, 'request'>,
    private readonly kinds: KindMapper,
    private readonly clock: Clock,
  ) {}

  /** A resource's use by each Pod, or by one container of each. */
  async resource(
    resource: string,
    { namespace, selector, container }: { namespace: string; selector: string; container?: string },
  ): Promise<PodSamples> {
    const path = `${resourcePath}/namespaces/${namespace}/pods${query({ labelSelector: selector })}`;
    const { items } = await this.get<PodMetricsList>(path, 'resource', 'pods.metrics.k8s.io');
    if (items.length === 0) throw new Error('no metrics returned from resource metrics API');
    const samples = new Map<string, PodSample>();
    for (const item of items) {
      const containers = item.containers.filter((c) => container === undefined || c.name === container);
      const usages = containers.map((c) => c.usage[resource]);
      if (usages.length === 0 || usages.includes(undefined)) continue;
      samples.set(item.metadata.name, {
        value: usages.reduce((sum, usage) => sum + milli(usage ?? '0'), 0),
        timestamp: Date.parse(item.timestamp),
        windowMs: parseDuration(item.window) ?? 0,
      });
    }
    if (samples.size === 0 && container !== undefined)
      throw new Error(
        `failed to get container metrics: container ${container} not present in metrics for any pod`,
      );
    return samples;
  }

  /** A metric of each Pod. */
  async pods(
    metric: { name: string; selector?: LabelSelector },
    { namespace, selector }: { namespace: string; selector: string },
  ): Promise<PodSamples> {
    const parameters = query({ labelSelector: selector, metricLabelSelector: selectorText(metric.selector) });
    const { items } = await this.custom(`namespaces/${namespace}/pods/*/${metric.name}${parameters}`);
    return new Map(
      items.map((item) => [
        item.describedObject.name,
        {
          value: milli(item.value),
          timestamp: Date.parse(item.timestamp),
          windowMs: windowOf(item) ?? defaultWindowMs,
        },
      ]),
    );
  }

  /** A metric of one object. */
  async object(
    metric: { name: string; selector?: LabelSelector },
    { kind, name, apiVersion = '' }: CrossVersionObjectReference,
    namespace: string,
  ): Promise<number> {
    const parameters = query({ metricLabelSelector: selectorText(metric.selector) });
    const [mapping] = await this.kinds.of(apiVersion, kind);
    const plural = mapping ? [mapping.resource, mapping.group].filter(Boolean).join('.') : '';
    const target =
      plural === 'namespaces'
        ? `namespaces/${name}/metrics`
        : `${mapping?.namespaced ? `namespaces/${namespace}/` : ''}${plural}/${name}`;
    const { items } = await this.custom(`${target}/${metric.name}${parameters}`);
    return milli(items[0]?.value ?? '0');
  }

  /** The values of a metric that belongs to no object of the cluster. */
  async external(metric: { name: string; selector?: LabelSelector }, namespace: string): Promise<number[]> {
    const parameters = query({ labelSelector: selectorText(metric.selector) });
    const path = `${externalPath}/namespaces/${namespace}/${metric.name}${parameters}`;
    const { items } = await this.get<ExternalMetricValueList>(
      path,
      'external',
      `${metric.name}.external.metrics.k8s.io`,
    );
    if (items.length === 0) throw new Error('no metrics returned from external metrics API');
    return items.map(({ value }) => milli(value));
  }

  private async custom(path: string): Promise<MetricValueList> {
    const version = await this.versionOfCustomMetrics();
    const list = await this.get<MetricValueList>(`/apis/${customGroup}/${version}/${path}`, 'custom');
    if (list.items.length === 0) throw new Error('no metrics returned from custom metrics API');
    return list;
  }

  private async versionOfCustomMetrics(): Promise<string> {
    const now = this.clock.monotonic();
    if (this.customVersion && now < this.customVersion.until) return this.customVersion.version;
    const { versions } = await this.get<{ versions: { version: string }[] }>(
      `/apis/${customGroup}`,
      'custom',
    );
    const version = customVersions.find((v) => versions.some((offered) => offered.version === v));
    if (!version) throw new Error('no known available metric versions found');
    this.customVersion = { version, until: now + versionKeptMs };
    return version;
  }

  private async get<T>(path: string, api: string, what = ''): Promise<T> {
    try {
      return await this.client.request<T>({ method: 'GET', path });
    } catch (error) {
      const reason = isNotFound(error)
        ? `the server could not find the requested resource${what ? ` (get ${what})` : ''}`
        : (error as Error).message;
      throw new Error(`unable to fetch metrics from ${api} metrics API: ${reason}`, { cause: error });
    }
  }
}

function windowOf({ windowSeconds, window }: MetricValueList['items'][number]): number | undefined {
  const seconds = windowSeconds ?? window;
  return seconds === undefined ? undefined : seconds * 1000;
}
