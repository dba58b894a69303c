import { apiVersionOf, loadSchemas, type KubeObject, type ResourceDescriptor } from '@tinkernetes/api';
import { badRequest } from '@tinkernetes/apimachinery';
import { decoderOf } from './type-decoder';
import { TypeMismatchError, type DecodeState } from './decode-state';
import { unknownFields } from './strict-errors';

export interface DecodedObject {
  object: KubeObject;
  /** `unknown field "spec.x"`, in document order. */
  unknown: readonly string[];
}

/** How to decode a request, as against what is stored. */
export type DecodeOptions = Pick<DecodeState, 'keepsEmpty'>;

/** Turns JSON values into objects of one kind and version, in upstream's field order. */
export interface ObjectCodec {
  readonly apiVersion: string;
  readonly kind: string;
  /** Throws StatusError 400 where a value does not fit its field. */
  decode(value: unknown, options?: DecodeOptions): DecodedObject;
  /** Full schema name of a built-in kind. */
  readonly schemaName: string | undefined;
}

const schemaNames = new Map<string, string>();

/** `io.k8s.api.apps.v1.Deployment` for (apps, v1, Deployment). */
export function schemaNameOf(group: string, version: string, kind: string): string | undefined {
  if (schemaNames.size === 0) {
    for (const [name, schema] of Object.entries(loadSchemas())) {
      const kinds = schema['x-kubernetes-group-version-kind'] ?? [];
      // Options kinds are registered in every group; they are found by name where they are needed.
      if (kinds.length > 1) continue;
      for (const k of kinds) schemaNames.set(`${k.group}/${k.version}/${k.kind}`, name);
    }
  }
  return schemaNames.get(`${group}/${version}/${kind}`);
}

/** Codec of a built-in kind, by its schema. */
export function builtInCodec(
  descriptor: Pick<ResourceDescriptor, 'group' | 'version' | 'kind'>,
): ObjectCodec {
  const { group, version, kind } = descriptor;
  const schemaName = schemaNameOf(group, version, kind);
  if (!schemaName) throw new Error(`no schema for ${group}/${version} ${kind}`);
  return {
    apiVersion: apiVersionOf(descriptor),
    kind,
    schemaName,
    decode(value, options) {
      const state = { struct: '', path: [], sawUnknown: false, ...options };
      try {
        const object = decoderOf(schemaName)(value ?? {}, state) as KubeObject;
        const whole = hasNoManagers(value) ? withoutManagers(object) : withMetadata(object);
        const typed: KubeObject = { kind, apiVersion: apiVersionOf(descriptor), ...whole };
        typed.kind = kind;
        typed.apiVersion = apiVersionOf(descriptor);
        return { object: typed, unknown: state.sawUnknown ? unknownFields(value, schemaName) : [] };
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

/** An empty list of managers is not the same as none: it takes all ownership away. */
function hasNoManagers(value: unknown): boolean {
  const managers = (value as Partial<KubeObject> | undefined | null)?.metadata?.managedFields;
  return Array.isArray(managers) && managers.length === 0;
}

const withoutManagers = (object: KubeObject): KubeObject => ({
  ...object,
  metadata: { ...withMetadata(object).metadata, managedFields: [] },
});

/** An object without metadata gets a name, if an empty one, so that nobody has to ask. */
function withMetadata(object: KubeObject): KubeObject {
  if (object.metadata && Object.keys(object.metadata).length > 0) return object;
  return { ...object, metadata: { name: '' } };
}

/** Codec of the built-in kind that an object says it is; undefined when there is none. */
export function schemaCodec(apiVersion: string, kind: string): ObjectCodec | undefined {
  const slash = apiVersion.indexOf('/');
  const group = slash < 0 ? '' : apiVersion.slice(0, slash);
  const version = apiVersion.slice(slash + 1);
  return schemaNameOf(group, version, kind) ? builtInCodec({ group, version, kind }) : undefined;
}
