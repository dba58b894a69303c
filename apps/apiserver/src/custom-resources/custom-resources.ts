import { createHash } from 'node:crypto';
import {
  apiVersionOf,
  type CustomResourceDefinition,
  type CustomResourceDefinitionVersion,
  type KubeObject,
  type ResourceDescriptor,
} from '@tinkernetes/api';
import type { StoredCodec } from '../cacher/cache-entry';
import { GenericStore } from '../registry/generic/generic-store';
import type { StoredVersions, StoreRuntime } from '../registry/generic/store-options';
import type { ServedResource, ServedSubresource } from '../registry/generic/served-resource';
import { storagePrefix } from '../registry/generic/storage-prefix';
import { createPrepare } from './conversion/converted-entries';
import { converterOf, type ConversionTools, type Converter } from './conversion/converter';
import { customCodec } from './custom-codec';
import { customStoredCodec } from './custom-stored-codec';
import { customStrategy } from './custom-strategy';
import { customScale } from './scale-mapping';
import { customTyping } from './custom-typing';
import type { Schema } from './structural-schema';

const verbs = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'];
const objectVerbs = ['get', 'patch', 'update'];

const schemaOf = (version: CustomResourceDefinitionVersion): Schema => version.schema?.openAPIV3Schema ?? {};

/** What a definition makes the server serve: one resource for each served version, all on one prefix of storage. */
export function createCustomResources(
  definition: CustomResourceDefinition,
  runtime: StoreRuntime,
  tools: ConversionTools,
): ServedResource[] {
  const { spec } = definition;
  const storage = spec.versions.find((v) => v.storage);
  if (!storage) return [];
  const versions = conversionsOf(definition, storage, tools);
  return spec.versions
    .filter((v) => v.served)
    .map((version) =>
      servedVersion(definition, version, createStore(definition, version, { ...versions, runtime })),
    );
}

/** The store of the version that is kept, whether that is served or not. */
export function createStorageStore(
  definition: CustomResourceDefinition,
  runtime: StoreRuntime,
  tools: ConversionTools,
): GenericStore | undefined {
  const storage = definition.spec.versions.find((v) => v.storage);
  if (!storage) return undefined;
  const versions = conversionsOf(definition, storage, tools);
  return createStore(definition, storage, { ...versions, runtime }).store;
}

/** How a definition's objects are kept, and converted between its versions. */
interface Conversions {
  storage: ResourceDescriptor;
  convert: Converter;
  storedCodec: StoredCodec;
  isLocal: boolean;
}

function conversionsOf(
  definition: CustomResourceDefinition,
  storage: CustomResourceDefinitionVersion,
  tools: ConversionTools,
): Conversions {
  const { spec } = definition;
  const schemas = new Map(spec.versions.map((v) => [`${spec.group}/${v.name}`, schemaOf(v)]));
  const { convert, isLocal } = converterOf(definition, schemas, tools);
  const descriptor = descriptorOf(definition, storage.name);
  const storedCodec = customStoredCodec({
    storage: descriptor,
    schemas,
    convert: (object, apiVersion) => {
      const converted = convert([object], apiVersion);
      if (!Array.isArray(converted))
        throw new Error(`${object.metadata.name} is read before it is converted`);
      return converted[0] ?? object;
    },
  });
  return { storage: descriptor, convert, isLocal, storedCodec };
}

const descriptorOf = ({ spec }: CustomResourceDefinition, version: string): ResourceDescriptor => ({
  group: spec.group,
  version,
  resource: spec.names.plural,
  kind: spec.names.kind,
  namespaced: spec.scope === 'Namespaced',
});

/** Requests are checked, admitted and owned in their own version, so each has a store of its own. */
function createStore(
  definition: CustomResourceDefinition,
  version: CustomResourceDefinitionVersion,
  { storage, convert, isLocal, storedCodec, runtime }: Conversions & { runtime: StoreRuntime },
): { store: GenericStore; prepare: ServedResource['prepare'] } {
  const { spec } = definition;
  const descriptor = descriptorOf(definition, version.name);
  const schema = schemaOf(version);
  const apiVersion = apiVersionOf(descriptor);
  const store = new GenericStore(
    {
      descriptor,
      strategy: customStrategy({ version, schema, namespaced: descriptor.namespaced }),
      hooks: {},
      codec: customCodec(descriptor, schema),
      storedCodec,
      hasStatus: version.subresources?.status !== undefined,
      typing: customTyping(descriptor, schema),
      prefix: storagePrefix(spec.group, spec.names.plural, true),
      versions:
        spec.versions.length > 1 ? storedVersions(apiVersion, apiVersionOf(storage), convert) : undefined,
    },
    runtime,
  );
  return { store, prepare: isLocal ? undefined : createPrepare(convert, apiVersion) };
}

function storedVersions(own: string, kept: string, convert: Converter): StoredVersions {
  const into = async (object: KubeObject, apiVersion: string): Promise<KubeObject> => {
    if (object.apiVersion === apiVersion) return object;
    const [converted = object] = await convert([object], apiVersion);
    return converted;
  };
  return {
    fromStored: ({ object }) => into(object, own),
    toStored: (object) => into(object, kept),
  };
}

function servedVersion(
  definition: CustomResourceDefinition,
  version: CustomResourceDefinitionVersion,
  { store, prepare }: ReturnType<typeof createStore>,
): ServedResource {
  const { spec, status } = definition;
  const names = status?.acceptedNames?.kind ? status.acceptedNames : spec.names;
  const descriptor = descriptorOf(definition, version.name);
  const schema = schemaOf(version);
  const scale = version.subresources?.scale;
  const storageVersion = spec.versions.find((v) => v.storage)?.name ?? version.name;
  return {
    descriptor,
    listKind: names.listKind ?? `${names.kind}List`,
    singular: names.singular ?? names.kind.toLowerCase(),
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
    verbs: new Set(verbs),
    subresources: subresourcesOf(descriptor, version),
    codec: customCodec(descriptor, schema),
    strategy: customStrategy({ version, schema, namespaced: descriptor.namespaced }),
    hooks: {},
    custom: true,
    typing: customTyping(descriptor, schema),
    columns: version.additionalPrinterColumns,
    schema,
    deprecationWarning: version.deprecated
      ? (version.deprecationWarning ?? `${spec.group}/${version.name} ${spec.names.kind} is deprecated`)
      : undefined,
    scale: scale && customScale(scale, spec.group),
    storageVersionHash: hashOf(spec.group, storageVersion, spec.names.kind),
    prepare,
    isTerminating: definition.metadata.deletionTimestamp !== undefined,
    store,
  };
}

function subresourcesOf(
  { group, version, kind }: ResourceDescriptor,
  { subresources }: CustomResourceDefinitionVersion,
): ReadonlyMap<string, ServedSubresource> {
  const out = new Map<string, ServedSubresource>();
  if (subresources?.status) out.set('status', { name: 'status', kind, group, version, verbs: objectVerbs });
  if (subresources?.scale) {
    out.set('scale', {
      name: 'scale',
      kind: 'Scale',
      group: 'autoscaling',
      version: 'v1',
      verbs: objectVerbs,
    });
  }
  return out;
}

/** As upstream hashes it: the first eight bytes of SHA-256 over group/version/kind. */
const hashOf = (group: string, version: string, kind: string): string =>
  createHash('sha256').update(`${group}/${version}/${kind}`).digest().subarray(0, 8).toString('base64');
