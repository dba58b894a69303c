import { createHash } from 'node:crypto';
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionVersion,
  KubeObject,
  ResourceDescriptor,
} from '@tinkernetes/api';
import { GenericStore, type StoreRuntime } from '../registry/generic/generic-store';
import type { ServedResource, ServedSubresource } from '../registry/generic/served-resource';
import { storagePrefix } from '../registry/generic/storage-prefix';
import { customCodec, convertByName } from './custom-codec';
import { customStoredCodec } from './custom-stored-codec';
import { customStrategy } from './custom-strategy';
import { customScale } from './scale-mapping';
import { customTyping } from './custom-typing';
import type { Schema } from './structural-schema';

const verbs = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'];
const objectVerbs = ['get', 'patch', 'update'];

const schemaOf = (version: CustomResourceDefinitionVersion): Schema => version.schema?.openAPIV3Schema ?? {};

/** What a definition makes the server serve: one resource for each served version, on one store. */
export function createCustomResources(
  definition: CustomResourceDefinition,
  runtime: StoreRuntime,
): ServedResource[] {
  const { spec } = definition;
  const storage = spec.versions.find((v) => v.storage);
  if (!storage) return [];
  const store = createStore(definition, storage, runtime);
  return spec.versions.filter((v) => v.served).map((version) => servedVersion(definition, version, store));
}

const descriptorOf = ({ spec }: CustomResourceDefinition, version: string): ResourceDescriptor => ({
  group: spec.group,
  version,
  resource: spec.names.plural,
  kind: spec.names.kind,
  namespaced: spec.scope === 'Namespaced',
});

function createStore(
  definition: CustomResourceDefinition,
  storage: CustomResourceDefinitionVersion,
  runtime: StoreRuntime,
): GenericStore {
  const { spec } = definition;
  const descriptor = descriptorOf(definition, storage.name);
  const schemas = new Map(spec.versions.map((v) => [`${spec.group}/${v.name}`, schemaOf(v)]));
  const schema = schemaOf(storage);
  return new GenericStore(
    {
      descriptor,
      strategy: customStrategy({ version: storage, schema, namespaced: descriptor.namespaced }),
      hooks: {},
      codec: customCodec(descriptor, schema),
      storedCodec: customStoredCodec({
        storage: descriptor,
        schema,
        convert: (object, apiVersion) => convertByName(object, apiVersion, schemas.get(apiVersion)),
      }),
      hasStatus: storage.subresources?.status !== undefined,
      typing: customTyping(descriptor, schema),
      prefix: storagePrefix(spec.group, spec.names.plural, true),
    },
    runtime,
  );
}

function servedVersion(
  definition: CustomResourceDefinition,
  version: CustomResourceDefinitionVersion,
  store: GenericStore,
): ServedResource {
  const { spec, status } = definition;
  const names = status?.acceptedNames?.kind ? status.acceptedNames : spec.names;
  const descriptor = descriptorOf(definition, version.name);
  const schema = schemaOf(version);
  const scale = version.subresources?.scale;
  const storageVersion = `${spec.group}/${store.descriptor.version}`;
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
    storageVersionHash: hashOf(spec.group, store.descriptor.version, spec.names.kind),
    toStorage: (object: KubeObject) =>
      object.apiVersion === storageVersion
        ? object
        : convertByName(object, storageVersion, schemaOf(spec.versions.find((v) => v.storage) ?? version)),
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
