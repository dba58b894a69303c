import { immutableMessage, invalid, semanticEqual } from '@tinkernetes/apimachinery';
import { goStruct } from './go-struct';
import type { Errors } from './rules';

/** The value must be as before. `goType`: the struct as which a message shows it. */
export const immutable = (path: string, value: unknown, old: unknown, goType?: string): Errors =>
  semanticEqual(value, old) ? [] : [invalid(path, shown(value, goType), immutableMessage)];

const shown = (value: unknown, goType: string | undefined): unknown =>
  goType === undefined || value === undefined ? (value ?? null) : goStruct(value, goType);
