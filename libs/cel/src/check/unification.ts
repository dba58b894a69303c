import { dyn, formatType, listOf, mapOf, parameterOf, type CelType } from './cel-type';

/** What type parameters stand for, as far as it is known. */
export type Mapping = ReadonlyMap<string, CelType>;

const isWild = ({ kind }: CelType): boolean => kind === 'dyn' || kind === 'error';
const isSame = (a: CelType, b: CelType): boolean => a.kind === b.kind && formatType(a) === formatType(b);
const isNullable = ({ kind }: CelType): boolean =>
  kind === 'opaque' || kind === 'struct' || kind === 'time' || kind === 'null';

/** The mapping with which the first types can be where the others are wanted; undefined: there is none. Source: cel-go checker/types.go. */
export function assignable(
  mapping: Mapping,
  from: readonly CelType[],
  to: readonly CelType[],
): Mapping | undefined {
  const copy = new Map(mapping);
  return areAssignable(copy, from, to) ? copy : undefined;
}

function areAssignable(
  mapping: Map<string, CelType>,
  from: readonly CelType[],
  to: readonly CelType[],
): boolean {
  return from.length === to.length && from.every((type, i) => isAssignable(mapping, type, to[i] ?? dyn));
}

function isAssignable(mapping: Map<string, CelType>, a: CelType, b: CelType): boolean {
  if (b.kind === 'parameter') {
    const { isValid, isKnown } = substitution(mapping, a, b);
    if (isValid) return true;
    if (isKnown) return false;
  }
  if (a.kind === 'parameter') return substitution(mapping, b, a).isValid;
  if (isWild(a) || isWild(b)) return true;
  if (a.kind === 'null') return isNullable(b);
  if (b.kind === 'null') return isNullable(a);
  if (a.kind === 'type') return b.kind === 'type';
  if (a.kind !== b.kind || a.name !== b.name) return false;
  return areAssignable(mapping, a.parameters, b.parameters);
}

/** Whether the type can be what the parameter stands for; remembered if so. */
function substitution(
  mapping: Map<string, CelType>,
  type: CelType,
  param: CelType,
): { isValid: boolean; isKnown: boolean } {
  if (isSame(type, param)) return { isValid: true, isKnown: true };
  const known = mapping.get(param.name);
  if (known) {
    if (isSame(type, known)) return { isValid: true, isKnown: true };
    if (!isAssignable(mapping, type, known)) return { isValid: false, isKnown: true };
    const general = mostGeneral(type, known);
    if (!occursIn(mapping, param, general)) mapping.set(param.name, general);
    return { isValid: true, isKnown: true };
  }
  if (occursIn(mapping, param, type)) return { isValid: false, isKnown: false };
  mapping.set(param.name, type);
  return { isValid: true, isKnown: false };
}

function occursIn(mapping: Mapping, param: CelType, type: CelType): boolean {
  if (isSame(param, type)) return true;
  if (type.kind === 'parameter') {
    const known = mapping.get(type.name);
    return known !== undefined && occursIn(mapping, param, known);
  }
  return type.parameters.some((part) => occursIn(mapping, param, part));
}

/** Of two types that go together the one that says less. */
export const mostGeneral = (a: CelType, b: CelType): CelType => (saysLess(a, b) ? a : b);

function saysLess(a: CelType, b: CelType): boolean {
  if (a.kind === 'dyn' || a.kind === 'parameter') return true;
  if (b.kind === 'dyn' || b.kind === 'parameter') return false;
  if (a.kind !== b.kind || a.name !== b.name) return false;
  return a.parameters.every((part, i) => saysLess(part, parameterOf(b, i)));
}

/** The type with what its parameters stand for; those of which nothing is known may become `dyn`. */
export function substitute(mapping: Mapping, type: CelType, { toDyn = false } = {}): CelType {
  if (type.kind === 'parameter') {
    const known = mapping.get(type.name);
    if (known) return substitute(mapping, known, { toDyn });
    return toDyn ? dyn : type;
  }
  if (type.parameters.length === 0) return type;
  const parameters = type.parameters.map((part) => substitute(mapping, part, { toDyn }));
  const [first = dyn, second = dyn] = parameters;
  if (type.kind === 'list') return listOf(first);
  return type.kind === 'map' ? mapOf(first, second) : { ...type, parameters };
}
