import { createHash } from 'node:crypto';
import type { ApiRequest } from '../contracts';
import { apiGroups } from '../discovery/documents';
import type { ResourceTable } from '../registry/generic/resource-table';
import { PlainNotFound, sendBytes } from '../server/respond';
import { loadDescriptions, type Descriptions } from './descriptions';

interface Document {
  bytes: Buffer;
  hash: string;
}

/** Serves `/openapi/v2` and `/openapi/v3`. Documents are made when first asked for, and again when the resources change. */
export class OpenApiDocuments {
  private readonly documents = new Map<string, Document>();

  private descriptions: Promise<Descriptions> | undefined;

  constructor(
    private readonly table: ResourceTable,
    private readonly descriptionsFile: string,
  ) {
    table.onChange(() => this.documents.clear());
  }

  /** False: another path. */
  async serve(request: ApiRequest): Promise<boolean> {
    const path = request.info.path.replace(/\/$/, '');
    if (path === '/openapi/v2') {
      this.send(request, await this.v2());
      return true;
    }
    if (path === '/openapi/v3') {
      await this.sendIndex(request);
      return true;
    }
    if (!path.startsWith('/openapi/v3/')) return false;
    const [root, ...rest] = path.slice('/openapi/v3/'.length).split('/');
    const [group, version] = root === 'api' ? ['', rest[0]] : [rest[0] ?? '', rest[1]];
    if ((root !== 'api' && root !== 'apis') || !version || !this.table.hasGroupVersion(group, version)) {
      throw new PlainNotFound();
    }
    const document = await this.v3(group, version);
    // A client that names the hash may keep the document for ever.
    if (request.query.get('hash') === document.hash)
      request.response.setHeader('Cache-Control', 'public, immutable');
    this.send(request, document);
    return true;
  }

  private async sendIndex(request: ApiRequest): Promise<void> {
    const paths: Record<string, object> = {};
    const add = async (path: string, group: string, version: string) => {
      const { hash } = await this.v3(group, version);
      paths[path] = { serverRelativeURL: `/openapi/v3/${path}?hash=${hash}` };
    };
    await add('api/v1', '', 'v1');
    for (const { name, versions } of apiGroups(this.table)) {
      for (const { version } of versions) {
        if (this.table.hasGroupVersion(name, version)) await add(`apis/${name}/${version}`, name, version);
      }
    }
    sendBytes(request.response, 200, 'application/json', JSON.stringify({ paths }));
  }

  private send(request: ApiRequest, { bytes, hash }: Document): void {
    const etag = `"${hash}"`;
    request.response.setHeader('ETag', etag);
    request.response.setHeader('Vary', 'Accept');
    if (request.raw.headers['if-none-match'] === etag) {
      request.response.writeHead(304);
      request.response.end();
      return;
    }
    sendBytes(request.response, 200, 'application/json', bytes);
  }

  private async v2(): Promise<Document> {
    const { openApiV2 } = await import('./v2');
    const descriptions = await this.texts();
    return this.document('v2', () => openApiV2(this.table, descriptions));
  }

  private async v3(group: string, version: string): Promise<Document> {
    const { openApiV3 } = await import('./v3');
    const descriptions = await this.texts();
    return this.document(`v3/${group}/${version}`, () =>
      openApiV3(this.table, { group, version }, descriptions),
    );
  }

  private texts(): Promise<Descriptions> {
    return (this.descriptions ??= loadDescriptions(this.descriptionsFile));
  }

  private document(key: string, make: () => object): Document {
    const known = this.documents.get(key);
    if (known) return known;
    const bytes = Buffer.from(JSON.stringify(make()));
    const document = { bytes, hash: createHash('sha512').update(bytes).digest('hex').toUpperCase() };
    this.documents.set(key, document);
    return document;
  }
}
