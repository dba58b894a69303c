import { ConfigMaps, type ConfigMap } from '@tinkernetes/api';
import type { ListOptions, ResourceClient, WatchEvent, WatchOptions } from '@tinkernetes/client';

type Step = { event: WatchEvent<ConfigMap> } | { end: true } | { error: unknown };

/** A resource whose lists and watches a test scripts, for tests of the reflector. */
export class ScriptedResource {
  readonly lists: ListOptions[] = [];
  /** Watches that were to begin with what is there. */
  readonly streams: WatchOptions[] = [];
  /** All others. */
  readonly watches: WatchOptions[] = [];
  /** What is there at the next lists and streams; an Error rejects. The last one is kept. */
  answers: (ConfigMap[] | Error)[] = [[]];
  version = 1;
  /** What a stream is refused with. */
  refusal: Error | undefined;
  /** It takes a stream for a watch of changes, as a server that does not know the parameter. */
  ignoresInitialEvents = false;
  private steps: Step[] = [];
  private wake: () => void = () => undefined;

  send(...steps: Step[]): void {
    this.steps.push(...steps);
    this.wake();
  }

  get client(): ResourceClient<ConfigMap> {
    return {
      descriptor: ConfigMaps,
      list: async (options: ListOptions = {}) => {
        this.lists.push(options);
        return { metadata: { resourceVersion: String(this.version) }, items: this.answer() };
      },
      watch: (options: WatchOptions = {}) => this.watch(options),
    } as Partial<ResourceClient<ConfigMap>> as ResourceClient<ConfigMap>;
  }

  private answer(): ConfigMap[] {
    const answer = this.answers.length > 1 ? this.answers.shift() : this.answers[0];
    if (answer instanceof Error) throw answer;
    return answer ?? [];
  }

  private async *watch(options: WatchOptions): AsyncIterable<WatchEvent<ConfigMap>> {
    if (options.sendInitialEvents) {
      this.streams.push(options);
      if (this.refusal) throw this.refusal;
      if (!this.ignoresInitialEvents) {
        for (const object of this.answer()) yield { type: 'ADDED', object };
        yield initialEventsEnd(this.version);
      }
    } else this.watches.push(options);
    while (!options.signal?.aborted) {
      const step = this.steps.shift();
      if (!step) {
        await new Promise<void>((resolve) => {
          this.wake = resolve;
          options.signal?.addEventListener('abort', () => resolve(), { once: true });
        });
      } else if ('event' in step) yield step.event;
      else if ('error' in step) throw step.error;
      else return;
    }
  }
}

const initialEventsEnd = (version: number): WatchEvent<ConfigMap> => ({
  type: 'BOOKMARK',
  object: {
    metadata: {
      resourceVersion: String(version),
      annotations: { 'k8s.io/initial-events-end': 'true' },
    },
  },
});

export const configMap = (
  name: string,
  resourceVersion: number,
  data: Record<string, string> = {},
): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default', resourceVersion: String(resourceVersion) },
  data,
});
