import { isObject } from '@tinkernetes/apimachinery';
import { decoderOf } from './type-decoder';
import { mismatch, TypeMismatchError, type Decode, type DecodeState } from './decode-state';

const schemaProps = 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps';

/** These types read themselves: what is wrong inside is reported as being at their own field, as encoding/json does. */
function within<T>(state: DecodeState, decode: (inner: DecodeState) => T): T {
  try {
    return decode({ struct: '', path: [], sawUnknown: false });
  } catch (error) {
    if (!(error instanceof TypeMismatchError)) throw error;
    throw error.at(state);
  }
}

const schema = (value: unknown, state: DecodeState): unknown =>
  within(state, (inner) => decoderOf(schemaProps)(value, inner));

const schemas = (values: readonly unknown[], state: DecodeState): unknown =>
  within(state, (inner) => values.map((value) => decoderOf(schemaProps)(value ?? {}, inner)));

const names = (values: readonly unknown[], state: DecodeState): unknown =>
  within(state, (inner) =>
    values.map((value) => {
      if (value === null) return '';
      if (typeof value === 'string') return value;
      throw mismatch(value, 'string', inner);
    }),
  );

/** A schema or a list of schemas. What is neither is nothing, without being an error. */
export const schemaOrArray: Decode = (value, state) => {
  if (Array.isArray(value)) return value.length > 0 ? schemas(value, state) : null;
  return isObject(value) ? schema(value, state) : null;
};

export const schemaOrStringArray: Decode = (value, state) => {
  if (Array.isArray(value)) return value.length > 0 ? names(value, state) : null;
  return isObject(value) ? schema(value, state) : null;
};

export const schemaOrBool: Decode = (value, state) => {
  if (typeof value === 'boolean') return value;
  if (isObject(value)) return schema(value, state);
  throw new TypeMismatchError('boolean or JSON schema expected');
};
