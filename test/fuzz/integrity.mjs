// What must hold whatever was sent: all that is stored can be listed, in every form, and written back as it is.

const lists = {
  JSON: 'application/json',
  protobuf: 'application/vnd.kubernetes.protobuf',
  Table: 'application/json;as=Table;v=v1;g=meta.k8s.io',
};

/** `{ path, namespaced, verbs, builtIn }` of everything that the server offers now. */
async function readResources(client) {
  const groups = (await client.json('GET', '/apis')).object.groups.flatMap(({ versions }) =>
    versions.map(({ groupVersion }) => `/apis/${groupVersion}`),
  );
  const found = await all(['/api/v1', ...groups], async (root) => {
    const { status, object } = await client.json('GET', root);
    // The group of a definition that was deleted meanwhile.
    if (status === 404) return [];
    return object.resources
      .filter(({ name, verbs }) => !name.includes('/') && verbs.includes('list'))
      .map(({ name, namespaced, verbs }) => {
        const builtIn = !/\.(com|test|org)\//.test(root);
        return { path: root, name, namespaced, verbs, builtIn };
      });
  });
  return found.flat();
}

/** At once, as far as the client has connections for it; in order. */
const all = (list, work) => Promise.all(list.map(work));

/** Keeps the server as it was at the start: checks what a batch left behind, and removes it. */
export class Integrity {
  #atStart = new Set();

  constructor(client) {
    this.client = client;
  }

  async remember() {
    await all(await readResources(this.client), async (resource) => {
      for (const item of await this.#list(resource)) this.#atStart.add(keyOf(resource, item));
    });
  }

  /** The faults found, as text, and what is there now that was not at the start. */
  async check() {
    const faults = [];
    const left = [];
    await all(await readResources(this.client), async (resource) => {
      for (const [form, accept] of Object.entries(lists)) {
        if (form === 'protobuf' && !resource.builtIn) continue;
        const { status, body } = await this.client.send({
          method: 'GET',
          path: `${resource.path}/${resource.name}`,
          headers: { accept },
        });
        if (status !== 200 && !(status === 404 && !resource.builtIn))
          faults.push(
            `listing ${resource.name} as ${form} gives ${status}: ${body.toString().slice(0, 300)}`,
          );
        if (form !== 'JSON' || status !== 200) continue;
        for (const item of JSON.parse(body.toString()).items)
          if (!this.#atStart.has(keyOf(resource, item))) left.push({ resource, item });
      }
    });
    const broken = await all(left, ({ resource, item }) => this.#roundTrip(resource, item));
    return { faults: [...faults, ...broken.filter((fault) => fault !== undefined)], left };
  }

  /** Removes what a check found. */
  async clean(left) {
    // Namespaced ones first: a namespace does not go while there is something in it.
    for (const namespaced of [true, false]) {
      const now = left.filter(({ resource }) => resource.namespaced === namespaced);
      await all(now, async ({ resource, item }) => {
        if (resource.verbs.includes('delete')) await this.#remove(resource, item);
      });
    }
  }

  async #list(resource) {
    const { status, object } = await this.client.json('GET', `${resource.path}/${resource.name}`);
    return status === 200 ? object.items : [];
  }

  /** Sent back as it was read, an object is accepted and no other than before. */
  async #roundTrip(resource, item) {
    if (!resource.verbs.includes('update')) return undefined;
    const path = pathOf(resource, item);
    const read = await this.client.json('GET', path);
    if (read.status === 404) return undefined;
    const first = await this.#writeBack(path, read.object);
    // Read through a version that is not the stored one, a custom resource gets that version's defaults when it is
    // written: then they are there, and nothing changes any more.
    if (!first.fault || !first.object || (await this.#isStoredVersion(resource))) return first.fault;
    return (await this.#writeBack(path, first.object)).fault;
  }

  async #isStoredVersion({ builtIn, path, name }) {
    if (builtIn) return true;
    const [, , group, version] = path.split('/');
    const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    const { object } = await this.client.json('GET', `${definitions}/${name}.${group}`);
    return !object.spec?.versions?.some((served) => served.name === version && !served.storage);
  }

  /** What a dry run makes of the object, or the fault in that. */
  async #writeBack(path, written) {
    const { status, object } = await this.client.json('PUT', `${path}?dryRun=All`, written);
    // 403: limits and policies that came after the object.
    if ([403, 404, 409].includes(status)) return {};
    if (status !== 200)
      return { fault: `${path} cannot be written back: ${status} ${JSON.stringify(object)}` };
    const [before, after] = [written, object].map(withoutTrail);
    if (before === after) return { object };
    return { object, fault: `${path} came back as another: ${before} and then ${after}` };
  }

  async #remove(resource, item) {
    const path = pathOf(resource, item);
    if (item.metadata.finalizers)
      await this.client.send({
        method: 'PATCH',
        path,
        headers: { 'content-type': 'application/merge-patch+json' },
        body: Buffer.from('{"metadata":{"finalizers":null}}'),
      });
    await this.client.json('DELETE', `${path}?gracePeriodSeconds=0`);
    if (resource.name !== 'namespaces') return;
    const { status, object } = await this.client.json('GET', path);
    if (status === 200)
      await this.client.json('PUT', `${path}/finalize`, { ...object, spec: { finalizers: [] } });
  }
}

const withoutTrail = ({ metadata: { managedFields: _, ...metadata }, ...object }) =>
  JSON.stringify(sorted({ ...object, metadata }));

/** The order of members is no part of an object. */
function sorted(value) {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== 'object') return value;
  return Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, member]) => [key, sorted(member)]);
}

const pathOf = ({ path, name, namespaced }, { metadata }) =>
  [
    path,
    ...(namespaced ? ['namespaces', encodeURIComponent(metadata.namespace)] : []),
    name,
    encodeURIComponent(metadata.name),
  ].join('/');

const keyOf = (resource, item) => `${pathOf(resource, item)} ${item.metadata.uid ?? ''}`;
