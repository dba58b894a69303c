import {
  apiVersionOf,
  groupOf,
  loadDiscovery,
  loadSchemas,
  type APIResourceFact,
  type KubeObject,
  type ResourceDescriptor,
} from '@tinkernetes/api';
import type { Strategy, WriteHooks } from '../../contracts';
import { builtInCodec, schemaCodec } from '../../codec/object-codec';
import type { ObjectCodec } from '../../codec/object-codec';
import { conversions, type Conversion } from './conversions';
import type { FieldTyping } from './field-tracking';
import { unsetObject } from './field-tracking';
import { GenericStore } from './generic-store';
import type { StoreRuntime } from './store-options';
import type { ServedResource, ServedSubresource } from './served-resource';
import { storagePrefix } from './storage-prefix';
import { createStoredCodec } from './stored-codec';

export interface BuiltInOptions {
  runtime: StoreRuntime;
  /** By `group/resource`. */
  strategies: ReadonlyMap<string, Strategy>;
  hooks: ReadonlyMap<string, WriteHooks>;
}

/** Every resource of the discovery facts, with one store for the versions of a resource. */
export function createBuiltInResources({ runtime, strategies, hooks }: BuiltInOptions): ServedResource[] {
  const stores = new Map<string, GenericStore>();
  const out: ServedResource[] = [];
  for (const document of Object.values(loadDiscovery())) {
    if (!document.resources) continue;
    const [group, version] = splitGroupVersion(document.groupVersion ?? '');
    for (const fact of document.resources.filter((r) => !r.name.includes('/'))) {
      const key = `${group}/${fact.name}`;
      const descriptor: ResourceDescriptor = {
        group,
        version,
        resource: fact.name,
        kind: fact.kind,
        namespaced: fact.namespaced,
      };
      const strategy = strategies.get(key) ?? {};
      const subresources = subresourcesOf(document.resources, descriptor);
      // What can't be watched is made when it is asked for.
      const stored = fact.verbs.includes('watch');
      const storageKey = conversions.get(key)?.storageOf ?? key;
      let store = stores.get(storageKey);
      if (stored && !store) {
        store = createStore({ descriptor, strategy, runtime, hooks: hooks.get(key) ?? {}, subresources });
        stores.set(storageKey, store);
      }
      const codec = builtInCodec(descriptor);
      out.push({
        descriptor,
        listKind: `${fact.kind}List`,
        singular: fact.singularName,
        shortNames: fact.shortNames ?? [],
        categories: fact.categories ?? [],
        verbs: new Set(fact.verbs),
        subresources,
        codec,
        typing: builtInTyping(codec, strategy),
        strategy,
        hooks: hooks.get(key) ?? {},
        custom: false,
        deprecationWarning: strategy.deprecationWarning,
        store: stored ? store : undefined,
        toStorage: converterTo(conversions.get(key)),
      });
    }
  }
  return out;
}

/** Whether a built-in kind has that version, too. */
const isVersionOf = ({ apiVersion, kind }: ObjectCodec, other: string): boolean =>
  groupOf(other) === groupOf(apiVersion) && schemaCodec(other, kind) !== undefined;

export function builtInTyping(
  codec: ObjectCodec,
  { keptByStatus }: Pick<Strategy, 'keptByStatus'> = {},
): () => FieldTyping {
  let typing: FieldTyping | undefined;
  return () =>
    (typing ??= {
      schemas: loadSchemas(),
      schemaName: codec.schemaName ?? '',
      empty: unsetObject(codec.decode({}).object),
      keptByStatus,
      isVersion: (apiVersion) => isVersionOf(codec, apiVersion),
    });
}

/** Into the version that is stored, in its canonical form; undefined where there is only one version. */
function converterTo(conversion: Conversion | undefined): ServedResource['toStorage'] {
  if (!conversion) return undefined;
  const apiVersion = apiVersionOf(conversion.storageVersion);
  return (object) => conversion.convert(object, apiVersion);
}

interface NewStore {
  descriptor: ResourceDescriptor;
  strategy: Strategy;
  hooks: WriteHooks;
  runtime: StoreRuntime;
  subresources: ReadonlyMap<string, ServedSubresource>;
}

function createStore({ descriptor, strategy, hooks, runtime, subresources }: NewStore): GenericStore {
  const key = `${descriptor.group}/${descriptor.resource}`;
  const conversion = conversions.get(key);
  const storage: ResourceDescriptor = { ...descriptor, ...conversion?.storageVersion };
  const convert = (object: KubeObject, apiVersion: string): KubeObject =>
    object.apiVersion === apiVersion || !conversion ? object : conversion.convert(object, apiVersion);
  const codec = builtInCodec(storage);
  // Upstream fills in defaults whenever it reads, and so may leave them out where it writes.
  const canonical = (object: KubeObject): KubeObject => {
    const decoded = codec.decode(convert(object, codec.apiVersion)).object;
    return strategy.default?.(decoded) ?? decoded;
  };
  return new GenericStore(
    {
      descriptor: storage,
      strategy,
      hooks,
      codec,
      storedCodec: createStoredCodec({ storage, convert, canonical }),
      hasStatus: subresources.has('status'),
      typing: builtInTyping(codec),
      prefix: storagePrefix(storage.group, storage.resource, false),
    },
    runtime,
  );
}

function subresourcesOf(
  resources: readonly APIResourceFact[],
  { group, version, resource }: ResourceDescriptor,
): ReadonlyMap<string, ServedSubresource> {
  const prefix = `${resource}/`;
  return new Map(
    resources
      .filter((r) => r.name.startsWith(prefix))
      .map((r) => {
        const name = r.name.slice(prefix.length);
        return [
          name,
          { name, kind: r.kind, group: r.group ?? group, version: r.version ?? version, verbs: r.verbs },
        ];
      }),
  );
}

function splitGroupVersion(groupVersion: string): [string, string] {
  const slash = groupVersion.indexOf('/');
  return slash < 0 ? ['', groupVersion] : [groupVersion.slice(0, slash), groupVersion.slice(slash + 1)];
}
