import type { Labels, Metrics } from '@tinkernetes/component-base';
import type { WatchCache } from './watch-cache';

/**
 * What the watch caches tell about themselves, under upstream's names. Returns what counts a watcher that was closed
 * because it didn't keep up. Source: k8s.io/apiserver/pkg/storage/cacher/metrics and pkg/endpoints/metrics.
 */
export function cacheMetrics(
  metrics: Metrics,
  feed: { allCaches(): Iterable<WatchCache> },
): (cache: WatchCache) => void {
  const each = function* (
    labels: (resource: { group: string; resource: string }) => Labels,
    read: (cache: WatchCache) => number,
  ): Generator<readonly [Labels, number]> {
    for (const cache of feed.allCaches()) if (cache.resource) yield [labels(cache.resource), read(cache)];
  };
  metrics
    .gauge('apiserver_storage_objects', 'Number of stored objects split by kind.', ['resource'])
    .collectEach(() =>
      each(
        ({ group, resource }) => ({ resource: group ? `${resource}.${group}` : resource }),
        ({ size }) => size,
      ),
    );
  metrics
    .gauge('apiserver_resource_objects', 'Number of stored objects split by kind.', ['group', 'resource'])
    .collectEach(() =>
      each(
        (labels) => labels,
        ({ size }) => size,
      ),
    );
  metrics
    .gauge('watch_cache_capacity', 'Number of events that are kept for watches that resume.', [
      'group',
      'resource',
    ])
    .collectEach(() =>
      each(
        (labels) => labels,
        ({ capacity }) => capacity,
      ),
    );
  const terminated = metrics.counter(
    'apiserver_terminated_watchers_total',
    'Number of watchers that were closed because they did not keep up.',
    ['group', 'resource'],
  );
  return ({ resource }) => resource && terminated.inc(resource);
}
