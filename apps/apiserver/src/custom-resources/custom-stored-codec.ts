import type { KubeObject, ResourceDescriptor } from '@tinkernetes/api';
import { apiVersionOf } from '@tinkernetes/api';
import type { StoredCodec } from '../cacher/cache-entry';
import { createStoredCodec, decodeStored } from '../registry/generic/stored-codec';
import { hasDefaults, withDefaults } from './defaults';
import type { Schema } from './structural-schema';

export interface CustomStoredCodecOptions {
  storage: ResourceDescriptor;
  schema: Schema;
  convert(object: KubeObject, apiVersion: string): KubeObject;
}

/** As the built-in one, but what is stored is defaulted on every read, since the schema may have got new defaults. */
export function customStoredCodec({ storage, schema, convert }: CustomStoredCodecOptions): StoredCodec {
  const plain = createStoredCodec({ storage, convert });
  const own = apiVersionOf(storage);
  const inStorageVersion = (object: KubeObject): KubeObject =>
    object.apiVersion === own ? object : convert(object, own);
  if (!hasDefaults(schema)) {
    return {
      ...plain,
      decode: (value, revision) => inStorageVersion(decodeStored(value, revision)),
    };
  }
  return {
    decode: (value, revision) =>
      withDefaults(inStorageVersion(decodeStored(value, revision)), schema) as KubeObject,
    encode(entry, encoding) {
      const apiVersion = encoding.slice('json:'.length);
      const object = entry.object;
      return Buffer.from(JSON.stringify(apiVersion === own ? object : convert(object, apiVersion)));
    },
  };
}
