import type { Pod } from '@tinkernetes/api';
import { formatTime, type Clock, type Logger, type Timer } from '@tinkernetes/component-base';
import { watch, type FSWatcher } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { withRealDeadline } from '../network/deadline';
import { ignoreMissing } from '../volumes/atomic-writer';
import { ManifestError, staticPod, type StaticPodOrigin } from './static-pod';

export interface StaticPodSourceDeps {
  clock: Clock;
  logger: Logger;
  nodeName: string;
  /** A file or a directory of manifests. */
  path: string | undefined;
  url: string | undefined;
  /** Sent to the URL. */
  headers: readonly (readonly [name: string, value: string])[];
  fileCheckMs: number;
  httpCheckMs: number;
  /** Gets the complete set after each look. */
  onPods(source: 'file' | 'http', pods: readonly Pod[]): void;
}

const fetchTimeoutMs = 10_000;

/**
 * Pods from manifests on the node (--pod-manifest-path) and behind a URL (--manifest-url).
 * Source: https://kubernetes.io/docs/tasks/configure-pod-container/static-pod/
 */
export class StaticPodSource {
  private watcher: FSWatcher | undefined;
  private readonly timers = new Map<'file' | 'http', Timer>();
  private stopped = false;
  private reading = Promise.resolve();

  constructor(private readonly deps: StaticPodSourceDeps) {}

  /** Resolves after the first look at both. */
  async start(): Promise<void> {
    const { path, url } = this.deps;
    if (path) {
      await this.lookAtFiles(path);
      this.watchFiles(path);
    }
    if (url) await this.lookAtURL(url);
  }

  stop(): void {
    this.stopped = true;
    this.watcher?.close();
    for (const timer of this.timers.values()) timer.cancel();
  }

  private watchFiles(path: string): void {
    try {
      this.watcher = watch(path, () => {
        this.reading = this.reading.then(() => this.lookAtFiles(path));
      });
      this.watcher.on('error', (error) =>
        this.deps.logger.warn({ err: error, path }, 'watching static pods failed'),
      );
    } catch (error) {
      this.deps.logger.warn({ err: error, path }, 'static pods are not watched, only looked at now and then');
    }
  }

  private again(source: 'file' | 'http', look: () => Promise<void>, ms: number): void {
    this.timers.get(source)?.cancel();
    if (this.stopped) return;
    this.timers.set(
      source,
      this.deps.clock.setTimeout(() => void look(), ms, { unref: true }),
    );
  }

  private async lookAtFiles(path: string): Promise<void> {
    const { logger, onPods, fileCheckMs } = this.deps;
    try {
      const pods: Pod[] = [];
      for (const file of await manifestFiles(path)) {
        const text = await readFile(file, 'utf8').catch(ignoreMissing);
        if (text !== undefined) pods.push(...(await this.parse(text, { source: 'file', location: file })));
      }
      if (!this.stopped) onPods('file', pods);
    } catch (error) {
      logger.warn({ err: error, path }, 'static pods could not be read');
    }
    this.again('file', () => this.lookAtFiles(path), fileCheckMs);
  }

  private async lookAtURL(url: string): Promise<void> {
    const { logger, onPods, headers, httpCheckMs } = this.deps;
    try {
      const text = await withRealDeadline(fetchTimeoutMs, async (signal) => {
        const response = await fetch(url, { signal, headers: headers.map(([name, value]) => [name, value]) });
        if (!response.ok) throw new ManifestError(`${url} answered ${response.status}`);
        return response.text();
      });
      const pods = await this.parse(text, { source: 'http', location: url });
      if (!this.stopped) onPods('http', pods);
    } catch (error) {
      logger.warn({ err: error, url }, 'static pods could not be fetched');
    }
    this.again('http', () => this.lookAtURL(url), httpCheckMs);
  }

  /** A bad manifest is told and left out; the others go on. */
  private async parse(text: string, at: Pick<StaticPodOrigin, 'source' | 'location'>): Promise<Pod[]> {
    const { clock, logger, nodeName } = this.deps;
    const origin = { ...at, nodeName, seen: formatTime(clock.now()) };
    try {
      const { parseAllDocuments } = await import('yaml');
      const documents = parseAllDocuments(text).map((document) => {
        const [error] = document.errors;
        if (error) throw new ManifestError(`${at.location}: ${error.message}`);
        return document.toJS() as unknown;
      });
      const objects = documents.flatMap((d) =>
        (d as { kind?: string } | null)?.kind === 'PodList'
          ? ((d as { items?: object[] }).items ?? []).map((item) => ({ ...item, kind: 'Pod' }))
          : [d],
      );
      return objects.filter((o) => o !== null).map((o) => staticPod(o, origin));
    } catch (error) {
      if (!(error instanceof ManifestError)) throw error;
      logger.warn({ location: at.location }, error.message);
      return [];
    }
  }
}

async function manifestFiles(path: string): Promise<string[]> {
  const found = await stat(path).catch(ignoreMissing);
  if (!found) return [];
  if (!found.isDirectory()) return [path];
  const names = await readdir(path);
  return names
    .filter((name) => !name.startsWith('.'))
    .sort()
    .map((name) => join(path, name));
}
