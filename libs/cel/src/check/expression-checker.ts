import {
  bool,
  bytes,
  double,
  duration,
  dyn,
  errorType,
  formatType,
  int,
  isOptional,
  listOf,
  mapOf,
  nullType,
  optionalOf,
  parameter,
  parameterOf,
  string,
  structOf,
  timestamp,
  typeOf,
  uint,
  type CelType,
} from './cel-type';
import { overloadsOf, parseOverload, type Overload } from './declarations';
import type {
  Call,
  Comprehension,
  Expression,
  ListLiteral,
  MapLiteral,
  Select,
  StructLiteral,
} from './expression';
import type { Finding } from './parser';
import { assignable, mostGeneral, substitute, type Mapping } from './unification';

/** What is known of an expression once its types are checked. */
export interface Checked {
  readonly expression: Expression;
  readonly findings: readonly Finding[];
  readonly type: CelType;
  typeOf(node: Expression): CelType;
  overloadsOf(node: Expression): readonly string[];
  /** The function that a call stands for, if its target was but the front part of its name. */
  qualified(call: Call): string | undefined;
  readonly variables: ReadonlySet<string>;
}

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

/** Checks the types of an expression. Source: cel-go checker/checker.go. */
export function checkExpression(expression: Expression, names: Names): Checked {
  return new Checker(names).run(expression);
}

class Checker {
  private mapping: Mapping = new Map();
  private lastVariable = -1;
  private readonly types = new Map<number, CelType>();
  private readonly overloads = new Map<number, readonly string[]>();
  private readonly qualifiedNames = new Map<number, string>();
  private readonly findings: Finding[] = [];
  private readonly used = new Set<string>();
  private scope: ReadonlyMap<string, CelType> = new Map();

  constructor(private readonly names: Names) {}

  run(expression: Expression): Checked {
    this.check(expression);
    for (const [id, type] of this.types) this.types.set(id, substitute(this.mapping, type, { toDyn: true }));
    return {
      expression,
      findings: this.findings,
      type: this.typeOf(expression),
      typeOf: (node) => this.typeOf(node),
      overloadsOf: (node) => this.overloads.get(node.id) ?? [],
      qualified: (call) => this.qualifiedNames.get(call.id),
      variables: this.used,
    };
  }

  private typeOf = ({ id }: Expression): CelType => this.types.get(id) ?? errorType;

  private tell(node: { position: number }, message: string): void {
    this.findings.push({ message, position: node.position });
  }

  private set(node: Expression, type: CelType): void {
    this.types.set(node.id, type);
  }

  private check(node: Expression): void {
    switch (node.kind) {
      case 'literal':
        return this.set(node, node.type);
      case 'ident':
        return this.set(node, this.lookup(node.name) ?? this.undeclared(node, node.name));
      case 'select':
        return this.checkSelect(node);
      case 'call':
        return this.checkCall(node);
      case 'list':
        return this.checkList(node);
      case 'map':
        return this.checkMap(node);
      case 'struct':
        return this.checkStruct(node);
      case 'comprehension':
        return this.checkComprehension(node);
    }
  }

  private lookup(name: string): CelType | undefined {
    const local = this.scope.get(name);
    if (local) return local;
    const { variables } = this.names;
    if (Object.hasOwn(variables, name)) {
      this.used.add(name);
      return variables[name];
    }
    return Object.hasOwn(wellKnown, name) ? wellKnown[name] : undefined;
  }

  private functionOf(name: string): readonly Overload[] | undefined {
    const { functions = {} } = this.names;
    return Object.hasOwn(functions, name) ? functions[name]?.map(parseOverload) : overloadsOf(name);
  }

  private undeclared(node: { position: number }, name: string): CelType {
    this.tell(node, `undeclared reference to '${name}' (in container '')`);
    return errorType;
  }

  private checkSelect(node: Select): void {
    const name = node.isTest ? undefined : qualifiedName(node);
    const known = name === undefined ? undefined : this.lookup(name);
    if (known) return this.set(node, known);
    const type = this.selected(node, node.operand, { field: node.field });
    this.set(node, node.isTest ? bool : substitute(this.mapping, type));
  }

  private selected(
    node: { position: number },
    operand: Expression,
    { field, isOptional: wanted = false }: { field: string; isOptional?: boolean },
  ): CelType {
    this.check(operand);
    const given = substitute(this.mapping, this.typeOf(operand));
    const target = isOptional(given) ? parameterOf(given, 0) : given;
    const type = this.fieldType(node, target, field);
    return wanted || isOptional(given) ? optionalOf(type) : type;
  }

  private fieldType(node: { position: number }, target: CelType, field: string): CelType {
    switch (target.kind) {
      case 'map':
        return parameterOf(target, 1);
      case 'struct': {
        const known = fieldOf(target, field);
        if (known) return known;
        this.tell(node, `undefined field '${field}'`);
        return errorType;
      }
      case 'parameter':
        this.assign([dyn], [target]);
        return dyn;
      case 'dyn':
      case 'error':
        return dyn;
      default:
        this.tell(node, `type '${formatType(target)}' does not support field selection`);
        return dyn;
    }
  }

  private checkCall(node: Call): void {
    if (node.name === '_?._') return this.checkOptionalSelect(node);
    for (const arg of node.args) this.check(arg);
    const { target } = node;
    if (!target) {
      const overloads = this.functionOf(node.name);
      if (overloads) return this.resolve(node, overloads, {});
      return this.set(node, this.undeclared(node, node.name));
    }
    const front = qualifiedName(target);
    const qualified = front === undefined ? undefined : this.functionOf(`${front}.${node.name}`);
    if (qualified) {
      this.qualifiedNames.set(node.id, `${front}.${node.name}`);
      return this.resolve(node, qualified, {});
    }
    this.check(target);
    const overloads = this.functionOf(node.name);
    if (overloads) return this.resolve(node, overloads, { target });
    this.set(node, this.undeclared(node, node.name));
  }

  private checkOptionalSelect(node: Call): void {
    const [operand, field] = node.args;
    if (!operand || field?.kind !== 'literal') return this.set(node, errorType);
    const type = this.selected(node, operand, { field: field.text, isOptional: true });
    this.set(node, substitute(this.mapping, type));
    this.overloads.set(node.id, ['select_optional_field']);
  }

  private resolve(node: Call, overloads: readonly Overload[], { target }: { target?: Expression }): void {
    if (node.name === '_&&_' || node.name === '_||_') return this.resolveLogical(node, overloads);
    const given = [...(target ? [target] : []), ...node.args].map((arg) => this.typeOf(arg));
    const ids: string[] = [];
    let result: CelType | undefined;
    for (const overload of overloads) {
      if (overload.isMember !== (target !== undefined)) continue;
      const fresh = this.instance(overload);
      if (!this.assign(given, fresh.args)) continue;
      ids.push(overload.id);
      const type = substitute(this.mapping, fresh.result);
      if (!result) result = type;
      else if (result.kind !== 'dyn' && formatType(result) !== formatType(type)) result = dyn;
    }
    if (!result) {
      const [first = '', ...rest] = given.map((type) =>
        formatType(substitute(this.mapping, type, { toDyn: true })),
      );
      const signature = target ? `${first}.(${rest.join(', ')})` : `(${[first, ...rest].join(', ')})`;
      const name = this.qualifiedNames.get(node.id) ?? node.name;
      this.tell(
        node,
        `found no matching overload for '${name}' applied to '${given.length === 0 ? '()' : signature}'`,
      );
    }
    this.set(node, result ?? errorType);
    this.overloads.set(node.id, ids);
  }

  private resolveLogical(node: Call, overloads: readonly Overload[]): void {
    let isFine = true;
    for (const arg of node.args) {
      const type = this.typeOf(arg);
      if (this.assign([type], [bool])) continue;
      this.mismatch(arg, bool, type);
      isFine = false;
    }
    this.set(node, isFine ? bool : errorType);
    this.overloads.set(
      node.id,
      overloads.map(({ id }) => id),
    );
  }

  /** An overload whose type parameters are its own. */
  private instance({ args, result, parameters }: Overload): Pick<Overload, 'args' | 'result'> {
    if (parameters.length === 0) return { args, result };
    const own: Mapping = new Map(parameters.map((name) => [name, this.newVariable()]));
    return { args: args.map((type) => substitute(own, type)), result: substitute(own, result) };
  }

  private newVariable = (): CelType => parameter(`_var${++this.lastVariable}`);

  private assign(from: readonly CelType[], to: readonly CelType[]): boolean {
    const mapping = assignable(this.mapping, from, to);
    if (mapping) this.mapping = mapping;
    return mapping !== undefined;
  }

  private mismatch(node: Expression, expected: CelType, found: CelType): void {
    this.tell(node, `expected type '${formatType(expected)}' but found '${formatType(found)}'`);
  }

  private join(node: Expression, before: CelType | undefined, type: CelType): CelType {
    if (!before) return type;
    if (this.assign([before], [type])) return mostGeneral(before, type);
    this.mismatch(node, before, type);
    return errorType;
  }

  private unwrapped(node: Expression, isOptionalEntry: boolean): CelType {
    const type = this.typeOf(node);
    if (!isOptionalEntry) return type;
    if (isOptional(type)) return parameterOf(type, 0);
    if (type.kind !== 'dyn') this.mismatch(node, optionalOf(type), type);
    return type;
  }

  private checkList(node: ListLiteral): void {
    let element: CelType | undefined;
    node.elements.forEach((item, i) => {
      this.check(item);
      element = this.join(item, element, this.unwrapped(item, node.optional.has(i)));
    });
    this.set(node, listOf(element ?? this.newVariable()));
  }

  private checkMap(node: MapLiteral): void {
    let keyType: CelType | undefined;
    let valueType: CelType | undefined;
    for (const { key, value, optional } of node.entries) {
      this.check(key);
      keyType = this.join(key, keyType, this.typeOf(key));
      this.check(value);
      valueType = this.join(value, valueType, this.unwrapped(value, optional));
    }
    this.set(node, mapOf(keyType ?? this.newVariable(), valueType ?? this.newVariable()));
  }

  private checkStruct(node: StructLiteral): void {
    const known = Object.hasOwn(wellKnown, node.name) ? wellKnown[node.name] : undefined;
    const type = this.names.structs?.(node.name) ?? (known && parameterOf(known, 0));
    if (!type) return this.set(node, this.undeclared(node, node.name));
    this.set(node, type);
    for (const field of node.fields) {
      const { name, value } = field;
      this.check(value);
      if (!type.fields) continue;
      const given = this.unwrapped(value, field.optional);
      const wanted = fieldOf(type, name);
      if (!wanted) this.tell(field, `undefined field '${name}'`);
      else if (!this.assign([wanted], [given])) {
        const found = formatType(given);
        this.tell(
          field,
          `expected type of field '${name}' is '${formatType(wanted)}' but provided type is '${found}'`,
        );
      }
    }
  }

  private checkComprehension(node: Comprehension): void {
    this.check(node.range);
    this.check(node.init);
    const range = substitute(this.mapping, this.typeOf(node.range));
    const result = this.typeOf(node.init);
    const outside = this.scope;
    const within = new Map(outside).set(node.result, result);
    const [first, second] = this.elementTypes(node, range);
    this.scope = new Map(within).set(node.variable, first);
    if (node.secondVariable !== undefined) this.scope = new Map(this.scope).set(node.secondVariable, second);
    this.check(node.condition);
    this.assertType(node.condition, bool);
    this.check(node.step);
    this.assertType(node.step, result);
    this.scope = within;
    this.check(node.end);
    this.scope = outside;
    this.set(node, substitute(this.mapping, this.typeOf(node.end)));
  }

  private elementTypes(node: Comprehension, range: CelType): [CelType, CelType] {
    const hasTwo = node.secondVariable !== undefined;
    switch (range.kind) {
      case 'list':
        return hasTwo ? [int, parameterOf(range, 0)] : [parameterOf(range, 0), dyn];
      case 'map':
        return [parameterOf(range, 0), parameterOf(range, 1)];
      case 'dyn':
      case 'error':
      case 'parameter':
        this.assign([dyn], [range]);
        return [dyn, dyn];
      default:
        this.tell(
          node.range,
          `expression of type '${formatType(range)}' cannot be range of a comprehension (must be list, map, or dynamic)`,
        );
        return [errorType, errorType];
    }
  }

  private assertType(node: Expression, wanted: CelType): void {
    const found = this.typeOf(node);
    if (!this.assign([wanted], [found])) this.mismatch(node, wanted, found);
  }
}

function fieldOf({ fields = {}, others }: CelType, name: string): CelType | undefined {
  return Object.hasOwn(fields, name) ? fields[name] : others;
}

/** `a.b.c` as a name; undefined for what is more than names. */
export function qualifiedName(node: Expression): string | undefined {
  if (node.kind === 'ident') return node.name;
  if (node.kind !== 'select' || node.isTest) return undefined;
  const front = qualifiedName(node.operand);
  return front === undefined ? undefined : `${front}.${node.field}`;
}

/** A struct of which nothing but its name is known. */
export const namedStruct = (name: string): CelType => structOf(name, {});
