import { apiVersionOf, type Status } from '@tinkernetes/api';
import type { Clock } from '@tinkernetes/component-base';
import type { CacheEntry } from '../cacher/cache-entry';
import type { CacheEvent } from '../cacher/cache-event';
import { encodeWatchFrame } from '../protobuf';
import { jsonEncoding, protobufOf } from '../registry/generic/stored-codec';
import type { ServedResource } from '../registry/generic/served-resource';
import { goYaml } from './go-yaml';
import { presentObject } from './presenter';
import type { Negotiated } from './negotiation';

export type FrameType = 'ADDED' | 'MODIFIED' | 'DELETED';

export interface FrameOptions {
  /** The client asked for trace contexts beside the objects. */
  traces: boolean;
  includeObject: string;
  clock: Clock;
}

/** Makes the lines of a watch stream in one encoding. Frames of the same key are the same bytes for all watchers. */
export class WatchFrames {
  private readonly keys: Readonly<Record<FrameType, string>>;
  private columnsSent = false;

  constructor(
    private readonly resource: ServedResource,
    private readonly negotiated: Negotiated,
    private readonly options: FrameOptions,
  ) {
    const key = this.isPlain
      ? `${jsonEncoding(resource.descriptor)}${options.traces ? '+trace' : ''}`
      : `${negotiated.format}:${negotiated.transform ?? ''}:${negotiated.transformVersion ?? ''}:${options.includeObject}:${apiVersionOf(resource.descriptor)}`;
    this.keys = { ADDED: `ADDED ${key}`, MODIFIED: `MODIFIED ${key}`, DELETED: `DELETED ${key}` };
  }

  get contentType(): string {
    switch (this.negotiated.format) {
      case 'yaml':
        return 'application/yaml;stream=watch';
      case 'protobuf':
        return 'application/vnd.kubernetes.protobuf;stream=watch';
      case 'json':
        return 'application/json';
    }
  }

  private get isPlain(): boolean {
    return this.negotiated.format === 'json' && !this.negotiated.transform;
  }

  /** For an event; shared by all watchers of the same encoding. */
  shared(event: CacheEvent, type: FrameType, entry: CacheEntry): Buffer {
    // The first row of a Table stream carries the columns, so it is this watcher's own.
    if (this.negotiated.transform === 'Table' && !this.columnsSent) return this.single(type, entry);
    return event.frame(this.keys[type], () => this.single(type, entry));
  }

  single(type: FrameType, entry: CacheEntry): Buffer {
    const noHeaders = this.columnsSent;
    this.columnsSent = true;
    const bytes = presentObject(this.resource, entry, this.inner(), {
      now: this.options.clock.now(),
      includeObject: this.options.includeObject,
      version: this.negotiated.transformVersion ?? 'v1',
      noHeaders,
    });
    return this.wrap(type, bytes, this.options.traces ? entry.trace : undefined);
  }

  bookmark(revision: number, endOfInitialEvents: boolean): Buffer {
    const { descriptor } = this.resource;
    const metadata = {
      resourceVersion: String(revision),
      ...(endOfInitialEvents ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : undefined),
    };
    return this.wrap('BOOKMARK', this.bytesOf(this.bookmarkObject(descriptor.kind, metadata)));
  }

  private bookmarkObject(kind: string, metadata: object): object {
    switch (this.negotiated.transform) {
      case 'PartialObjectMetadata':
        return {
          kind: 'PartialObjectMetadata',
          apiVersion: `meta.k8s.io/${this.negotiated.transformVersion}`,
          metadata,
        };
      case 'Table':
        return {
          kind: 'Table',
          apiVersion: `meta.k8s.io/${this.negotiated.transformVersion}`,
          metadata,
          columnDefinitions: null,
          rows: [],
        };
      default:
        return { kind, apiVersion: apiVersionOf(this.resource.descriptor), metadata };
    }
  }

  error(status: Status): Buffer {
    return this.wrap('ERROR', this.bytesOf(status));
  }

  private bytesOf(value: object): Buffer {
    return this.negotiated.format === 'protobuf' ? protobufOf(value) : Buffer.from(JSON.stringify(value));
  }

  /** YAML frames are made from JSON. */
  private inner(): Negotiated {
    return this.negotiated.format === 'yaml' ? { ...this.negotiated, format: 'json' } : this.negotiated;
  }

  private wrap(type: string, object: Buffer, trace?: string): Buffer {
    if (this.negotiated.format === 'yaml') {
      const value = { type, object: JSON.parse(object.toString('utf8')) as unknown };
      return Buffer.from(`---\n${goYaml(value)}`);
    }
    if (this.negotiated.format === 'protobuf') return encodeWatchFrame(type, object);
    const end = object.at(-1) === 0x0a ? object.length - 1 : object.length;
    return Buffer.concat([
      Buffer.from(`{"type":"${type}","object":`),
      object.subarray(0, end),
      Buffer.from(trace ? `,"traceparent":"${trace}"}\n` : '}\n'),
    ]);
  }
}
