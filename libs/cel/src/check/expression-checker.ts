import {
  bool,
  dyn,
  errorType,
  formatType,
  int,
  isOptional,
  listOf,
  mapOf,
  optionalOf,
  parameterOf,
  structOf,
  type CelType,
} from './cel-type';
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
import { Inference } from './inference';
import { resolveOverload, type Candidates } from './overload-resolution';
import { Scope, type Names } from './scope';

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

/** Checks the types of an expression. Source: cel-go checker/checker.go. */
export function checkExpression(expression: Expression, names: Names): Checked {
  return new Checker(names).run(expression);
}

class Checker {
  private readonly inference = new Inference();
  private readonly scope: Scope;
  private readonly overloads = new Map<number, readonly string[]>();
  private readonly qualifiedNames = new Map<number, string>();

  constructor(names: Names) {
    this.scope = new Scope(names);
  }

  run(expression: Expression): Checked {
    const { inference } = this;
    this.check(expression);
    inference.settle();
    return {
      expression,
      findings: inference.findings,
      type: inference.typeOf(expression),
      typeOf: inference.typeOf,
      overloadsOf: (node) => this.overloads.get(node.id) ?? [],
      qualified: (call) => this.qualifiedNames.get(call.id),
      variables: this.scope.used,
    };
  }

  private check(node: Expression): void {
    switch (node.kind) {
      case 'literal':
        return this.inference.set(node, node.type);
      case 'ident':
        return this.inference.set(node, this.scope.variable(node.name) ?? this.undeclared(node, node.name));
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

  private undeclared(node: { position: number }, name: string): CelType {
    this.inference.tell(node, `undeclared reference to '${name}' (in container '')`);
    return errorType;
  }

  private checkSelect(node: Select): void {
    const name = node.isTest ? undefined : qualifiedName(node);
    const known = name === undefined ? undefined : this.scope.variable(name);
    if (known) return this.inference.set(node, known);
    const type = this.selected(node, node.operand, { field: node.field });
    this.inference.set(node, node.isTest ? bool : this.inference.resolved(type));
  }

  private selected(
    node: { position: number },
    operand: Expression,
    { field, isOptional: wanted = false }: { field: string; isOptional?: boolean },
  ): CelType {
    this.check(operand);
    const given = this.inference.resolved(this.inference.typeOf(operand));
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
        this.inference.tell(node, `undefined field '${field}'`);
        return errorType;
      }
      case 'parameter':
        this.inference.assign([dyn], [target]);
        return dyn;
      case 'dyn':
      case 'error':
        return dyn;
      default:
        this.inference.tell(node, `type '${formatType(target)}' does not support field selection`);
        return dyn;
    }
  }

  private checkCall(node: Call): void {
    if (node.name === '_?._') return this.checkOptionalSelect(node);
    for (const arg of node.args) this.check(arg);
    const { target } = node;
    if (!target) {
      const overloads = this.scope.functionOf(node.name);
      if (overloads) return this.resolve(node, { name: node.name, overloads });
      return this.inference.set(node, this.undeclared(node, node.name));
    }
    const front = qualifiedName(target);
    const qualified = front === undefined ? undefined : this.scope.functionOf(`${front}.${node.name}`);
    if (qualified) {
      const name = `${front}.${node.name}`;
      this.qualifiedNames.set(node.id, name);
      return this.resolve(node, { name, overloads: qualified });
    }
    this.check(target);
    const overloads = this.scope.functionOf(node.name);
    if (overloads) return this.resolve(node, { name: node.name, overloads, target });
    this.inference.set(node, this.undeclared(node, node.name));
  }

  private resolve(node: Call, candidates: Candidates): void {
    const { type, ids } = resolveOverload(this.inference, node, candidates);
    this.inference.set(node, type);
    this.overloads.set(node.id, ids);
  }

  private checkOptionalSelect(node: Call): void {
    const [operand, field] = node.args;
    if (!operand || field?.kind !== 'literal') return this.inference.set(node, errorType);
    const type = this.selected(node, operand, { field: field.text, isOptional: true });
    this.inference.set(node, this.inference.resolved(type));
    this.overloads.set(node.id, ['select_optional_field']);
  }

  private checkList(node: ListLiteral): void {
    let element: CelType | undefined;
    node.elements.forEach((item, i) => {
      this.check(item);
      element = this.inference.join(item, element, this.inference.unwrapped(item, node.optional.has(i)));
    });
    this.inference.set(node, listOf(element ?? this.inference.newVariable()));
  }

  private checkMap(node: MapLiteral): void {
    let keyType: CelType | undefined;
    let valueType: CelType | undefined;
    for (const { key, value, optional } of node.entries) {
      this.check(key);
      keyType = this.inference.join(key, keyType, this.inference.typeOf(key));
      this.check(value);
      valueType = this.inference.join(value, valueType, this.inference.unwrapped(value, optional));
    }
    this.inference.set(
      node,
      mapOf(keyType ?? this.inference.newVariable(), valueType ?? this.inference.newVariable()),
    );
  }

  private checkStruct(node: StructLiteral): void {
    const type = this.scope.struct(node.name);
    if (!type) return this.inference.set(node, this.undeclared(node, node.name));
    this.inference.set(node, type);
    for (const field of node.fields) {
      const { name, value } = field;
      this.check(value);
      if (!type.fields) continue;
      const given = this.inference.unwrapped(value, field.optional);
      const wanted = fieldOf(type, name);
      if (!wanted) this.inference.tell(field, `undefined field '${name}'`);
      else if (!this.inference.assign([wanted], [given])) {
        const found = formatType(given);
        this.inference.tell(
          field,
          `expected type of field '${name}' is '${formatType(wanted)}' but provided type is '${found}'`,
        );
      }
    }
  }

  private checkComprehension(node: Comprehension): void {
    this.check(node.range);
    this.check(node.init);
    const range = this.inference.resolved(this.inference.typeOf(node.range));
    const result = this.inference.typeOf(node.init);
    const [first, second] = this.elementTypes(node, range);
    const { result: resultName, variable, secondVariable } = node;
    this.scope.within({ [resultName]: result }, () => {
      const element = secondVariable === undefined ? {} : { [secondVariable]: second };
      this.scope.within({ [variable]: first, ...element }, () => {
        this.check(node.condition);
        this.inference.expect(node.condition, bool);
        this.check(node.step);
        this.inference.expect(node.step, result);
      });
      this.check(node.end);
    });
    this.inference.set(node, this.inference.resolved(this.inference.typeOf(node.end)));
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
        this.inference.assign([dyn], [range]);
        return [dyn, dyn];
      default:
        this.inference.tell(
          node.range,
          `expression of type '${formatType(range)}' cannot be range of a comprehension (must be list, map, or dynamic)`,
        );
        return [errorType, errorType];
    }
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
