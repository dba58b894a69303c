/** Where the decoder is, for messages. */
export interface DecodeState {
  /** Go struct that holds the current field: `PodSpec`. */
  struct: string;
  /** The fields on the way, without list indices, as encoding/json reports them. */
  readonly path: string[];
  /** Set when a field without a place in the type was seen. */
  sawUnknown: boolean;
  /** Whether lists that are stored as null when they are empty stay lists: requests own them. */
  readonly keepsEmpty?: boolean;
}

export type Decode = (value: unknown, state: DecodeState) => unknown;

/** The JSON value does not fit the type; the message is worded as Go's encoding/json words it. */
export class TypeMismatchError extends Error {
  override readonly name = 'TypeMismatchError';

  constructor(
    message: string,
    private readonly misfit?: { readonly value: unknown; readonly goType: string },
  ) {
    super(message);
  }

  /** The same error as seen from a field further out, whose type decodes itself. */
  at(state: DecodeState): TypeMismatchError {
    return this.misfit ? mismatch(this.misfit.value, this.misfit.goType, state) : this;
  }
}

export function jsonTypeOf(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  if (value === null) return 'null';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

export function mismatch(value: unknown, goType: string, state: DecodeState): TypeMismatchError {
  const number = typeof value === 'number' && /^(u?int|float)/.test(goType);
  const what = number ? `number ${String(value)}` : jsonTypeOf(value);
  const place = state.path.length
    ? `Go struct field ${state.struct}.${state.path.join('.')} of type ${goType}`
    : `Go value of type ${goType}`;
  return new TypeMismatchError(`json: cannot unmarshal ${what} into ${place}`, { value, goType });
}
