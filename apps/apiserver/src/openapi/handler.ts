import type { Clock } from '@tinkernetes/component-base';
import { isAvailable, type RemoteApi } from '../aggregation/aggregator';
import type { ApiRequest } from '../contracts';
import type { AggregatedSources } from '../discovery/aggregated';
import { apiGroups } from '../discovery/documents';
import { hashOf, PlainNotFound, sendBytes, sendWithETag, type HashedDocument } from '../server/respond';
import { Slices } from '../server/slices';
import { acceptedFormat, protobufType } from './formats';
import { loadDescriptions, type Descriptions } from './descriptions';

const json = 'application/json';
const root = '/openapi/v3/';

/** Serves `/openapi/v2` and `/openapi/v3`. Documents are made when first asked for, and again when the resources change. */
export class OpenApiDocuments {
  private readonly documents = new Map<string, HashedDocument>();
  private descriptions: Promise<Descriptions> | undefined;

  constructor(
    private readonly sources: AggregatedSources,
    private readonly descriptionsFile: string,
    private readonly clock: Clock,
  ) {
    const clear = () => this.documents.clear();
    sources.table.onChange(clear);
    sources.aggregator.onChange(clear);
  }

  /** False: another path. */
  async serve(request: ApiRequest): Promise<boolean> {
    const { path } = request.info;
    if (path.startsWith('/openapi/v3')) request.routed();
    if (path === '/openapi/v2') await this.sendV2(request);
    else if (path === '/openapi/v3') await this.sendIndex(request);
    else if (path.startsWith(root)) await this.sendV3(request, path.slice(root.length));
    else return false;
    return true;
  }

  private async sendV2(request: ApiRequest): Promise<void> {
    const format = acceptedFormat(request.raw.headers.accept, 'v2');
    if (!format) request.response.writeHead(406).end();
    else await sendWithETag(request, await (format === 'json' ? this.v2() : this.v2Protobuf()));
  }

  private async sendV3(request: ApiRequest, path: string): Promise<void> {
    const [prefix, ...rest] = path.split('/');
    const [group, version] = prefix === 'api' ? ['', rest[0]] : [rest[0] ?? '', rest[1]];
    const isVersion = (prefix === 'api' || prefix === 'apis') && version;
    const remote = isVersion ? this.sources.aggregator.remoteFor(`/${path}`) : undefined;
    const own = () => (isVersion ? this.v3(group, version) : this.serverDocument(path));
    const document = await (remote ? this.remoteV3(remote) : own());
    if (!document) throw new PlainNotFound();
    const format = acceptedFormat(request.raw.headers.accept, 'v3');
    if (!format) {
      request.response.writeHead(406).end();
      return;
    }
    // Of another server's document its own index gives the hash, which only that server can tell apart.
    const wanted = remote ? null : request.query.get('hash');
    const isCurrent = wanted === document.hash;
    if (wanted && !isCurrent) {
      request.response.writeHead(301, { Location: `${root}${path}?hash=${document.hash}` }).end();
      return;
    }
    // A client that names the hash may keep the document for ever.
    if (isCurrent) request.response.setHeader('Cache-Control', 'public, immutable');
    await sendWithETag(
      request,
      format === 'json' ? document : await this.v3Protobuf(document, { isRemote: remote !== undefined }),
    );
  }

  private async v3Protobuf(
    { bytes, hash }: HashedDocument,
    { isRemote }: { isRemote: boolean },
  ): Promise<HashedDocument> {
    const { encodeOpenApiV3 } = await import('./v3-protobuf');
    const make = () => ({
      bytes: encodeOpenApiV3(JSON.parse(bytes.toString('utf8')) as object),
      hash,
      contentType: protobufType('v3'),
    });
    // Another server's changes without a word, and would be kept for each of its versions.
    return isRemote ? make() : this.kept(`v3/protobuf/${hash}`, make);
  }

  private async sendIndex(request: ApiRequest): Promise<void> {
    const paths: Record<string, object> = {};
    const slices = new Slices(this.clock);
    const add = async (group: string, version: string) => {
      const path = group ? `apis/${group}/${version}` : `api/${version}`;
      const remote = this.sources.aggregator.remoteFor(`/${path}`);
      const entry = remote ? await this.remoteEntry(remote) : await this.entry(path, group, version);
      if (entry) paths[path] = entry;
      if (slices.areUsedUp) await slices.next();
    };
    const { serverPaths } = await import('./discovery-paths');
    for (const path of serverPaths(this.sources.table).keys()) {
      const document = await this.serverDocument(path);
      if (document) paths[path] = entryOf(path, document);
    }
    await add('', 'v1');
    for (const { name, versions } of apiGroups(this.sources.table)) {
      for (const { version } of versions) await add(name, version);
    }
    const sorted = Object.fromEntries(Object.entries(paths).sort(([a], [b]) => (a < b ? -1 : 1)));
    sendBytes(request.response, 200, json, JSON.stringify({ paths: sorted }));
  }

  private async entry(path: string, group: string, version: string): Promise<object | undefined> {
    const document = await this.v3(group, version);
    return document && entryOf(path, document);
  }

  private async remoteEntry(remote: RemoteApi): Promise<object | undefined> {
    const { remoteIndexEntry } = await import('../aggregation/remote-openapi');
    return remoteIndexEntry(this.sources.remoteDocuments, remote);
  }

  private async remoteV3(remote: RemoteApi): Promise<HashedDocument | undefined> {
    const { remoteOpenApiV3 } = await import('../aggregation/remote-openapi');
    const document = await remoteOpenApiV3(this.sources.remoteDocuments, remote);
    return document && { bytes: document.body, hash: hashOf(document.body), contentType: json };
  }

  private async v2(): Promise<HashedDocument> {
    const { openApiV2 } = await import('./v2');
    const { table, aggregator, remoteDocuments } = this.sources;
    const descriptions = await this.texts();
    if (!aggregator.hasRemotes)
      return this.document('v2', () => JSON.stringify(openApiV2(table, descriptions)));
    // What other servers say is kept, and read anew, where it is read.
    const { withRemoteSpecs } = await import('../aggregation/remote-openapi');
    const available = [...aggregator.all()].filter(isAvailable);
    const merged = await withRemoteSpecs(openApiV2(table, descriptions), remoteDocuments, available);
    return documentOf(JSON.stringify(merged));
  }

  private async v2Protobuf(): Promise<HashedDocument> {
    const { bytes } = await this.v2();
    const { encodeOpenApiV2 } = await import('./v2-protobuf');
    const make = () => {
      const encoded = encodeOpenApiV2(JSON.parse(bytes.toString('utf8')) as object);
      return { bytes: encoded, hash: hashOf(encoded), contentType: protobufType('v2') };
    };
    return this.sources.aggregator.hasRemotes ? make() : this.kept('v2/protobuf', make);
  }

  private async v3(group: string, version: string): Promise<HashedDocument | undefined> {
    const { table } = this.sources;
    if (!table.hasGroupVersion(group, version)) return undefined;
    const { openApiV3 } = await import('./v3');
    const descriptions = await this.texts();
    return this.document(`v3/${group}/${version}`, () => openApiV3(table, { group, version }, descriptions));
  }

  /** What tells of the server rather than of a version's resources. */
  private async serverDocument(path: string): Promise<HashedDocument | undefined> {
    const { serverPaths } = await import('./discovery-paths');
    const paths = serverPaths(this.sources.table).get(path);
    if (!paths) return undefined;
    const { documentText } = await import('./v3');
    const descriptions = await this.texts();
    return this.document(`server/${path}`, () => documentText(paths, {}, descriptions));
  }

  private texts(): Promise<Descriptions> {
    return (this.descriptions ??= loadDescriptions(this.descriptionsFile));
  }

  private document(key: string, make: () => string): HashedDocument {
    return this.kept(key, () => documentOf(make()));
  }

  private kept(key: string, make: () => HashedDocument): HashedDocument {
    let document = this.documents.get(key);
    if (!document) this.documents.set(key, (document = make()));
    return document;
  }
}

const entryOf = (path: string, { hash }: HashedDocument): object => ({
  serverRelativeURL: `${root}${path}?hash=${hash}`,
});

function documentOf(text: string): HashedDocument {
  const bytes = Buffer.from(text);
  return { bytes, hash: hashOf(bytes), contentType: json };
}
