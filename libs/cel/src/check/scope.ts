import {
  bool,
  bytes,
  double,
  duration,
  dyn,
  int,
  listOf,
  mapOf,
  nullType,
  optionalOf,
  parameterOf,
  string,
  timestamp,
  typeOf,
  uint,
  type CelType,
} from './cel-type';
import { overloadsOf } from './declarations';
import { parseOverload, type Overload } from './overload';

/** What expressions may speak of. */
export interface Names {
  readonly variables: Readonly<Record<string, CelType>>;
  /** Functions beyond those of all environments. */
  readonly functions?: Readonly<Record<string, readonly string[]>>;
  /** Types whose values can be written down, by name. */
  readonly structs?: (name: string) => CelType | undefined;
}

const wellKnown: Readonly<Record<string, CelType>> = {
  bool: typeOf(bool),
  int: typeOf(int),
  uint: typeOf(uint),
  double: typeOf(double),
  string: typeOf(string),
  bytes: typeOf(bytes),
  dyn: typeOf(dyn),
  list: typeOf(listOf(dyn)),
  map: typeOf(mapOf(dyn, dyn)),
  null_type: typeOf(nullType),
  type: typeOf(typeOf(dyn)),
  optional_type: typeOf(optionalOf(dyn)),
  'google.protobuf.Timestamp': typeOf(timestamp),
  'google.protobuf.Duration': typeOf(duration),
};

/** The names that a place in an expression sees: its comprehensions' variables before those that were declared. */
export class Scope {
  /** The declared variables that were asked for. */
  readonly used = new Set<string>();
  private locals: ReadonlyMap<string, CelType> = new Map();

  constructor(private readonly names: Names) {}

  variable(name: string): CelType | undefined {
    const local = this.locals.get(name);
    if (local) return local;
    const { variables } = this.names;
    if (Object.hasOwn(variables, name)) {
      this.used.add(name);
      return variables[name];
    }
    return Object.hasOwn(wellKnown, name) ? wellKnown[name] : undefined;
  }

  functionOf(name: string): readonly Overload[] | undefined {
    const { functions = {} } = this.names;
    return Object.hasOwn(functions, name) ? functions[name]?.map(parseOverload) : overloadsOf(name);
  }

  /** The type whose values `name{…}` writes down. */
  struct(name: string): CelType | undefined {
    const known = Object.hasOwn(wellKnown, name) ? wellKnown[name] : undefined;
    return this.names.structs?.(name) ?? (known && parameterOf(known, 0));
  }

  /** Does something where more variables are seen. */
  within(variables: Readonly<Record<string, CelType>>, act: () => void): void {
    const outside = this.locals;
    this.locals = new Map([...outside, ...Object.entries(variables)]);
    act();
    this.locals = outside;
  }
}
