import { loadDiscovery, Namespaces, type APIResourceFact } from '@tinkernetes/api';
import { createClient, type Client } from '@tinkernetes/client';
import { startApiServer, type TestApiServer } from '@tinkernetes/testing';

const methods: Readonly<Record<string, string>> = {
  get: 'GET',
  list: 'GET',
  create: 'POST',
  update: 'PUT',
  patch: 'PATCH',
  delete: 'DELETE',
};

/** As real servers answer a Binding without a target, and what is meant for a node that says no address. */
const expectedFailures = ['target.name: Required value', 'no preferred addresses found; known addresses: []'];

describe('what discovery names', () => {
  let server: TestApiServer;
  let client: Client;
  beforeAll(async () => {
    server = await startApiServer({ flags: ['--disable-admission-plugins=ServiceAccount'] });
    client = createClient(server.adminConfig);
    if (!server.stores.for(Namespaces).peek('default'))
      await client.for(Namespaces).create({ metadata: { name: 'default' }, spec: {} });
  });
  afterAll(async () => {
    client.close();
    await server.stop();
  });

  const bodyOf = ({ kind, group, version }: APIResourceFact, groupVersion: string, verb: string) => {
    if (verb === 'patch') return { metadata: { labels: { a: 'b' } } };
    const apiVersion = version ? (group ? `${group}/${version}` : version) : groupVersion;
    return { apiVersion, kind, metadata: { name: 'nope' } };
  };

  /** The answer, where it is that of a server that does not know the path or the verb, or fails. */
  async function problem(root: string, groupVersion: string, fact: APIResourceFact, verb: string) {
    const [resource = '', subresource] = fact.name.split('/');
    const isNamed = subresource !== undefined || !['list', 'create'].includes(verb);
    const path = [
      root,
      ...(fact.namespaced ? ['namespaces', 'default'] : []),
      resource,
      ...(isNamed ? ['nope'] : []),
      ...(subresource ? [subresource] : []),
    ].join('/');
    const method = methods[verb] ?? '';
    const error = await client
      .request({
        method: method as 'GET',
        path,
        headers: verb === 'patch' ? { 'content-type': 'application/merge-patch+json' } : {},
        ...(['GET', 'DELETE'].includes(method) ? {} : { body: bodyOf(fact, groupVersion, verb) }),
      })
      .then(
        () => undefined,
        (e: Error & { code?: number }) => e,
      );
    if (!error || expectedFailures.includes(error.message)) return undefined;
    const { code = 500, message } = error;
    const isUnknown = code === 404 && /could not find the requested resource|404 page/.test(message);
    return isUnknown || code === 405 || code >= 500 ? `${verb} ${path}: ${code} ${message}` : undefined;
  }

  it('is served: every kind and subresource, with every verb', async () => {
    const problems: string[] = [];
    for (const [root, { resources, groupVersion = '' }] of Object.entries(loadDiscovery())) {
      for (const fact of resources ?? []) {
        const verbs = fact.verbs.filter((verb) => methods[verb] !== undefined);
        const found = await Promise.all(verbs.map((verb) => problem(root, groupVersion, fact, verb)));
        problems.push(...found.filter((text) => text !== undefined));
      }
    }
    expect(problems).toEqual([]);
  });
});
