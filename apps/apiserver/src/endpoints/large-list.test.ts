import { request } from 'node:https';
import { gunzipSync } from 'node:zlib';
import { parse } from 'yaml';
import { ConfigMaps, Namespaces, type ConfigMap } from '@tinkernetes/api';
import { startApiServer, type TestApiServer } from '@tinkernetes/testing';
import { decodeProtobuf } from '../protobuf';

const count = 400;
const path = '/api/v1/namespaces/many/configmaps';
const nameOf = (i: number) => `item-${String(i).padStart(4, '0')}`;
const names = Array.from({ length: count }, (_, i) => nameOf(i));

interface Listed {
  kind: string;
  metadata: { resourceVersion: string; continue?: string };
  items: ConfigMap[];
  rows: { cells: unknown[]; object: ConfigMap }[];
}

describe('lists of many objects', () => {
  let server: TestApiServer;

  beforeAll(async () => {
    server = await startApiServer();
    await server.stores.for(Namespaces).create({ metadata: { name: 'many' } } as never);
    // Together far more than one chunk, and than parsed objects are kept of.
    const data = { text: 'x'.repeat(8000) };
    for (let i = 0; i < count; i++) {
      const metadata = { name: nameOf(i), namespace: 'many', labels: { half: String(i % 2) } };
      await server.stores.for(ConfigMaps).create({ metadata, data } as never);
    }
  });
  afterAll(() => server.stop());

  function get(query: string, headers: Record<string, string>): Promise<Buffer> {
    const { caData: ca, certData: cert, keyData: key } = server.adminConfig;
    return new Promise((resolve, reject) => {
      const req = request(
        `${server.server}${path}${query}`,
        { ca, cert, key, headers, agent: false },
        (res) => {
          const chunks: Buffer[] = [];
          res.on('data', (chunk: Buffer) => chunks.push(chunk));
          res.on('error', reject);
          res.on('end', () => {
            const bytes = Buffer.concat(chunks);
            resolve(res.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes);
          });
        },
      );
      req.on('error', reject);
      req.end();
    });
  }
  const json = async (query = '', headers: Record<string, string> = {}) =>
    JSON.parse((await get(query, headers)).toString()) as Listed;
  const namesOf = ({ items }: Listed) => items.map(({ metadata }) => metadata.name);

  it.each([[{}], [{ 'accept-encoding': 'gzip' }]])('sends plain JSON in pieces, %j', async (headers) => {
    const list = await json('', headers);
    expect([list.kind, namesOf(list)]).toEqual(['ConfigMapList', names]);
  });

  it('sends a Table in pieces', async () => {
    const list = await json('', { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' });
    expect([list.kind, list.rows.map(({ cells }) => cells[0])]).toEqual(['Table', names]);
    const whole = await json();
    expect(list.rows.map(({ object }) => object.metadata)).toEqual(
      whole.items.map(({ metadata }) => metadata),
    );
  });

  it('sends metadata in pieces', async () => {
    const list = await json('', {
      accept: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
    });
    expect([list.kind, namesOf(list)]).toEqual(['PartialObjectMetadataList', names]);
    expect(list.items[0]).not.toHaveProperty('data');
    const whole = await json();
    expect(list.items.map(({ metadata }) => metadata)).toEqual(whole.items.map(({ metadata }) => metadata));
  });

  it.each([
    ['objects', 'application/vnd.kubernetes.protobuf', 'ConfigMapList'],
    [
      'metadata',
      'application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
      'PartialObjectMetadataList',
    ],
  ])('sends protobuf with %s in pieces', async (_, accept, kind) => {
    const list = decodeProtobuf(await get('', { accept })) as unknown as Listed;
    const plain = await json();
    expect(list.kind).toBe(kind);
    expect(list.metadata.resourceVersion).toMatch(/^\d+$/);
    expect(list.items.map(({ metadata }) => metadata)).toEqual(plain.items.map(({ metadata }) => metadata));
    expect(list.items.map(({ data }) => data)).toEqual(
      kind === 'ConfigMapList' ? plain.items.map(({ data }) => data) : plain.items.map(() => undefined),
    );
  });

  it.each([
    ['objects', '', 'ConfigMapList'],
    ['metadata', ';as=PartialObjectMetadataList;v=v1;g=meta.k8s.io', 'PartialObjectMetadataList'],
    ['rows', ';as=Table;v=v1;g=meta.k8s.io', 'Table'],
  ])('sends YAML with %s in pieces', async (_, form, kind) => {
    const yaml = async (query: string) =>
      (await get(query, { accept: `application/yaml${form}` })).toString();
    // From one answer to the next ages grow, and the server may have written something of its own.
    const comparable = ({ rows, metadata, ...list }: Listed) => ({
      ...list,
      metadata: { ...metadata, resourceVersion: '', continue: typeof metadata.continue },
      rows: rows?.map(({ object, cells }) => ({ object, cells: cells.slice(0, 2) })),
    });
    for (const query of ['?limit=3', '?labelSelector=half%3D2']) {
      const list = parse(await yaml(query)) as Listed;
      expect(list.kind).toBe(kind);
      const plain = await json(query, { accept: `application/json${form}` });
      expect(comparable(list)).toEqual(comparable(plain));
    }
    expect((await yaml('')).match(/^- /gm)).toHaveLength(kind === 'Table' ? count + 3 : count);
  });

  it('pages through what a label selects', async () => {
    const seen: string[] = [];
    for (let token = ''; ;) {
      const list = await json(`?labelSelector=half%3D1&limit=70&continue=${encodeURIComponent(token)}`);
      seen.push(...namesOf(list));
      if (!list.metadata.continue) break;
      token = list.metadata.continue;
    }
    expect(seen).toEqual(names.filter((_, i) => i % 2 === 1));
  });

  it('begins a watch with all that there is, in pieces', async () => {
    const { caData: ca, certData: cert, keyData: key } = server.adminConfig;
    const query =
      '?watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan';
    const text = await new Promise<string>((resolve, reject) => {
      const req = request(`${server.server}${path}${query}`, { ca, cert, key, agent: false }, (res) => {
        let received = '';
        // It is broken off when all is there.
        res.on('error', () => undefined);
        res.setEncoding('utf8').on('data', (chunk: string) => {
          received += chunk;
          if (!received.slice(-chunk.length - 100).includes('k8s.io/initial-events-end')) return;
          resolve(received);
          req.destroy();
        });
        res.on('end', () => reject(new Error('the watch ended')));
      });
      req.on('error', reject).end();
    });
    const events = text.match(/^\{"type":"[A-Z]+"/gm) ?? [];
    expect(events).toEqual([...names.map(() => '{"type":"ADDED"'), '{"type":"BOOKMARK"']);
    const added = [...text.matchAll(/^\{"type":"ADDED".*?"name":"([^"]+)"/gm)].map(([, name]) => name);
    expect(added).toEqual(names);
  });
});
