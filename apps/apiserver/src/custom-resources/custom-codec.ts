import type { KubeObject } from '@tinkernetes/api';
import { isObject, badRequest } from '@tinkernetes/apimachinery';
import type { ObjectCodec } from '../codec/object-codec';
import { TypeMismatchError } from '../codec/decode-state';
import { withDefaults } from './defaults';
import { prune, pruneMetadata } from './prune';
import { type Schema } from './structural-schema';

export interface CustomKind {
  group: string;
  version: string;
  kind: string;
}

/** Codec of a custom resource: prunes and defaults by its schema. */
export function customCodec({ group, version, kind }: CustomKind, schema: Schema): ObjectCodec {
  const apiVersion = `${group}/${version}`;
  return {
    apiVersion,
    kind,
    schemaName: undefined,
    decode(value) {
      const given = isObject(value) ? value : {};
      const unknown: string[] = [];
      try {
        const metadata = pruneMetadata(given.metadata ?? {}, 'metadata', unknown) as KubeObject['metadata'];
        const { apiVersion: _a, kind: _k, metadata: _m, ...rest } = given;
        const pruned = prune(rest, schema, '', unknown) as Record<string, unknown>;
        const filled = withDefaults(pruned, schema) as Record<string, unknown>;
        const object = { apiVersion, kind, metadata: { ...metadata, name: metadata.name ?? '' }, ...filled };
        return { object: object as KubeObject, unknown: unknown.sort() };
      } catch (error) {
        if (!(error instanceof TypeMismatchError)) throw error;
        throw badRequest(
          `${kind} in version "${version}" cannot be handled as a ${kind}: ${error.message}`,
          error,
        );
      }
    },
  };
}
