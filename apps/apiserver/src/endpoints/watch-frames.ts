import { apiVersionOf, type ObjectMeta, type Status } from '@tinkernetes/api';
import type { Clock } from '@tinkernetes/component-base';
import type { CacheEntry } from '../cacher/cache-entry';
import type { CacheEvent } from '../cacher/cache-event';
import { encodeWatchFrame } from '../protobuf';
import { jsonEncoding, protobufOf } from '../registry/generic/stored-codec';
import type { ServedResource } from '../registry/generic/served-resource';
import { emptyObject } from './empty-object';
import type { Negotiated } from './negotiation';
import { partialObject, presentObject } from './presenter';
import { renderTable, type TableOptions } from './table';

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
    const isProtobuf = this.negotiated.format === 'protobuf';
    return isProtobuf ? 'application/vnd.kubernetes.protobuf;stream=watch' : 'application/json';
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
    const bytes = presentObject(this.resource, entry, this.negotiated, this.table());
    return this.wrap(type, bytes, this.options.traces ? entry.trace : undefined);
  }

  /** Only the first Table has columns. */
  private table(): TableOptions {
    const noHeaders = this.columnsSent;
    this.columnsSent = true;
    return {
      now: this.options.clock.now(),
      includeObject: this.options.includeObject,
      version: this.negotiated.transformVersion ?? 'v1',
      noHeaders,
    };
  }

  bookmark(revision: number, endOfInitialEvents: boolean): Buffer {
    const metadata: ObjectMeta = {
      name: '',
      resourceVersion: String(revision),
      ...(endOfInitialEvents ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : undefined),
    };
    return this.wrap('BOOKMARK', this.bytesOf(this.bookmarkObject(metadata)));
  }

  /** An object of the kind in which nothing is set but the metadata, shown as the stream's others. */
  private bookmarkObject(metadata: ObjectMeta): object {
    const object = emptyObject(this.resource, metadata);
    switch (this.negotiated.transform) {
      case 'PartialObjectMetadata':
        return partialObject(this.resource, object, this.negotiated);
      case 'Table':
        return renderTable(
          this.resource,
          [object],
          { resourceVersion: metadata.resourceVersion },
          this.table(),
        );
      default:
        return { ...object, metadata: { ...object.metadata, name: undefined } };
    }
  }

  error(status: Status): Buffer {
    return this.wrap('ERROR', this.bytesOf(status));
  }

  private bytesOf(value: object): Buffer {
    return this.negotiated.format === 'protobuf' ? protobufOf(value) : Buffer.from(JSON.stringify(value));
  }

  private wrap(type: string, object: Buffer, trace?: string): Buffer {
    if (this.negotiated.format === 'protobuf') return encodeWatchFrame(type, object);
    const end = object.at(-1) === 0x0a ? object.length - 1 : object.length;
    return Buffer.concat([
      Buffer.from(`{"type":"${type}","object":`),
      object.subarray(0, end),
      Buffer.from(trace ? `,"traceparent":"${trace}"}\n` : '}\n'),
    ]);
  }
}
