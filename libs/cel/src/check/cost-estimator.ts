import { isOptional, parameterOf, type CelType } from './cel-type';
import { extensionCost, kubernetesCost, languageCost, type CallOperands, type Operand } from './call-costs';
import { fixed, plus, times, union, unknownSize, type Range } from './cost-range';
import type { Call, Comprehension, Expression } from './expression';
import type { Checked } from './expression-checker';
import { GoPath } from './go-path';

/** How large the value at a path from a variable can be; undefined: nobody knows. */
export type SizeOf = (path: readonly string[]) => number | undefined;

/** How large keys and values of a list or map can be. */
interface EntrySize {
  readonly isList: boolean;
  readonly key: Range;
  readonly value: Range;
}
/** A variable of a macro: where its values are from, and how large they can be. */
interface Local {
  readonly path: GoPath;
  readonly size: Range | undefined;
  readonly entries: EntrySize | undefined;
}

const listBase = 10;
const mapBase = 30;
const structBase = 40;
const accumulator = '@result';

/** What an expression can cost at the least and at the most. Source: cel-go checker/cost.go. */
export const estimateCost = (checked: Checked, sizeOf: SizeOf): Range =>
  new CostEstimator(checked, sizeOf).cost(checked.expression);

class CostEstimator {
  private readonly paths = new Map<number, GoPath>();
  private readonly sizes = new Map<number, Range>();
  private readonly entries = new Map<number, EntrySize>();
  private readonly locals = new Map<string, Local[]>();

  constructor(
    private readonly checked: Checked,
    private readonly sizeAt: SizeOf,
  ) {}

  cost(node: Expression): Range {
    switch (node.kind) {
      case 'literal':
        return fixed(0);
      case 'ident':
        this.paths.set(node.id, this.local(node.name)?.path ?? GoPath.of(node.name));
        return fixed(1);
      case 'select': {
        const operand = this.cost(node.operand);
        // Asking whether a field is there costs nothing.
        if (node.isTest) return operand;
        this.paths.set(node.id, this.pathOf(node.operand).append(node.field));
        const { kind } = this.checked.typeOf(node.operand);
        return ['map', 'struct', 'parameter'].includes(kind) ? plus(operand, fixed(1)) : operand;
      }
      case 'call':
        return this.callCost(node);
      case 'list': {
        const sum = this.sum(node.elements);
        this.entries.set(node.id, { isList: true, key: fixed(1), value: this.joined(node.elements) });
        return plus(sum, fixed(listBase));
      }
      case 'map': {
        const keys = node.entries.map(({ key }) => key);
        const values = node.entries.map(({ value }) => value);
        const sum = this.sum([...keys, ...values]);
        this.entries.set(node.id, { isList: false, key: this.joined(keys), value: this.joined(values) });
        return plus(sum, fixed(mapBase));
      }
      case 'struct':
        return plus(this.sum(node.fields.map(({ value }) => value)), fixed(structBase));
      case 'comprehension':
        return isBind(node) ? this.bindCost(node) : this.loopCost(node);
    }
  }

  private sum = (nodes: readonly Expression[]): Range =>
    nodes.reduce((total, node) => plus(total, this.cost(node)), fixed(0));

  private joined = (nodes: readonly Expression[]): Range =>
    nodes.length === 0
      ? fixed(0)
      : nodes.map((node) => this.sizeOf(node) ?? unknownSize).reduce(union, { min: unknownSize.max, max: 0 });

  private callCost(node: Call): Range {
    const [first] = node.args;
    if (node.name === 'dyn' && first) {
      const cost = this.cost(first);
      this.copySizes(node, first);
      return plus(cost, fixed(1));
    }
    const argCosts = node.args.map((arg) => this.cost(arg));
    const overloads = this.checked.overloadsOf(node);
    if (overloads.length === 0) return fixed(0);
    const qualified = this.checked.qualified(node);
    const target = qualified === undefined ? node.target : undefined;
    const targetCost = target ? this.cost(target) : fixed(0);
    const operands = {
      args: node.args.map((arg) => this.operand(arg)),
      ...(target && { target: this.operand(target) }),
    };
    let cost: Range = { min: unknownSize.max, max: 0 };
    let size: Range | undefined;
    for (const overload of overloads) {
      const one = this.oneCall(node, qualified ?? node.name, { ...operands, overload }, argCosts);
      cost = union(cost, one.cost);
      if (one.size) size = size ? union(size, one.size) : one.size;
      if (first && (overload === 'index_list' || overload === 'index_map')) {
        size = this.entriesOf(first)?.value;
        this.paths.set(node.id, this.pathOf(first).append(overload === 'index_list' ? '@items' : '@values'));
      }
      size ??= this.sizeOf(node);
    }
    if (size) this.sizes.set(node.id, size);
    return plus(targetCost, cost);
  }

  private oneCall(
    node: Call,
    name: string,
    operands: CallOperands,
    argCosts: readonly Range[],
  ): { cost: Range; size?: Range } {
    const sum = argCosts.reduce(plus, fixed(0));
    const special = extensionCost(operands) ?? kubernetesCost(name, operands);
    if (special) return { ...special, cost: plus(special.cost, sum) };
    const [first = fixed(0), second = fixed(0), third = fixed(0)] = argCosts;
    switch (operands.overload) {
      case 'logical_and':
      case 'logical_or':
        return { cost: { min: first.min, max: plus(first, second).max } };
      case 'conditional': {
        const [, yes, no] = node.args as [Expression, Expression, Expression];
        const entries = bothEntries(this.entriesOf(yes), this.entriesOf(no));
        if (entries) this.entries.set(node.id, entries);
        const size = union(this.sizeOf(yes) ?? unknownSize, this.sizeOf(no) ?? unknownSize);
        return { cost: plus(first, union(second, third)), size };
      }
      default: {
        const added = languageCost(operands);
        if (operands.overload.startsWith('add_')) this.addEntries(node);
        return { ...added, cost: plus(added.cost, sum) };
      }
    }
  }

  private addEntries(node: Call): void {
    const [left, right] = node.args;
    const entries = left && right && bothEntries(this.entriesOf(left), this.entriesOf(right));
    if (entries) this.entries.set(node.id, entries);
  }

  private operand(node: Expression): Operand {
    const type = this.checked.typeOf(node);
    const path = this.pathOf(node).names;
    // Of what is put together nobody knows more than its own size.
    const isMade = path[0] === accumulator;
    return {
      node,
      type,
      size: this.sizeOf(node),
      elementSize: () => (path.length === 0 || isMade ? undefined : this.known([...path, '@items'])),
    };
  }

  private loopCost(node: Comprehension): Range {
    const before = plus(this.cost(node.range), this.cost(node.init));
    this.push(node.result, this.localOf(node.init));
    this.pushLoopVariables(node);
    const each = plus(this.cost(node.condition), this.cost(node.step));
    this.pop(node.variable);
    if (node.secondVariable !== undefined) this.pop(node.secondVariable);
    const end = this.cost(node.end);
    this.pop(node.result);
    const count = this.sizeOf(node.range) ?? unknownSize;
    this.keepResultSize(node, count);
    return plus(plus(before, end), times(count, each));
  }

  /** A name that stands for the node's value. */
  private localOf(node: Expression): Local {
    return { path: this.pathOf(node), size: this.sizeOf(node), entries: this.entriesOf(node) };
  }

  private keepResultSize(node: Comprehension, count: Range): void {
    if (node.init.kind === 'literal') {
      const size = this.sizeOf(node.init);
      if (size) this.sizes.set(node.id, size);
    } else if (node.init.kind === 'list' || node.init.kind === 'map') {
      this.sizes.set(node.id, count);
      const entries = this.entriesOf(node.step);
      if (entries) this.entries.set(node.id, entries);
    }
  }

  private pushLoopVariables({ range, variable, secondVariable }: Comprehension): void {
    const entries = this.entriesOf(range);
    const isList = entries ? entries.isList : this.checked.typeOf(range).kind === 'list';
    const path = this.pathOf(range);
    const of = (part: string, size: Range | undefined): Local => ({
      path: path.append(part),
      size,
      entries: undefined,
    });
    const values = of(isList ? '@items' : '@values', entries?.value);
    if (secondVariable !== undefined) {
      this.push(variable, of(isList ? '@indices' : '@keys', entries?.key));
      this.push(secondVariable, values);
    } else this.push(variable, isList ? values : of('@keys', entries?.key));
  }

  private bindCost(node: Comprehension): Range {
    const before = plus(this.cost(node.range), this.cost(node.init));
    this.push(node.result, this.localOf(node.init));
    const cost = plus(before, this.cost(node.end));
    this.copySizes(node, node.end);
    this.pop(node.result);
    return cost;
  }

  private copySizes(to: Expression, from: Expression): void {
    const size = this.sizeOf(from);
    if (size) this.sizes.set(to.id, size);
    const entries = this.entriesOf(from);
    if (entries) this.entries.set(to.id, entries);
  }

  private push(name: string, local: Local): void {
    this.locals.set(name, [...(this.locals.get(name) ?? []), local]);
  }

  private pop(name: string): void {
    this.locals.set(name, (this.locals.get(name) ?? []).slice(0, -1));
  }

  private local = (name: string): Local | undefined => this.locals.get(name)?.at(-1);

  private pathOf(node: Expression): GoPath {
    const local = node.kind === 'ident' ? this.local(node.name) : undefined;
    return local?.path ?? this.paths.get(node.id) ?? GoPath.empty;
  }

  private entriesOf(node: Expression): EntrySize | undefined {
    const local = node.kind === 'ident' ? this.local(node.name) : undefined;
    return this.entries.get(node.id) ?? local?.entries;
  }

  private sizeOf(node: Expression): Range | undefined {
    const computed = this.sizes.get(node.id) ?? literalSize(node);
    if (computed) return computed;
    const known = this.known(this.pathOf(node).names);
    if (known) {
      this.sizes.set(node.id, known);
      return known;
    }
    if (isScalar(this.checked.typeOf(node))) return fixed(1);
    return node.kind === 'ident' ? this.local(node.name)?.size : undefined;
  }

  private known(path: readonly string[]): Range | undefined {
    const size = path.length === 0 ? undefined : this.sizeAt(path);
    return size === undefined ? undefined : { min: 0, max: size };
  }
}

function literalSize(node: Expression): Range | undefined {
  switch (node.kind) {
    case 'literal':
      return fixed(['string', 'bytes'].includes(node.type.name) ? [...node.text].length : 1);
    case 'list':
      return fixed(node.elements.length);
    case 'map':
      return fixed(node.entries.length);
    default:
      return undefined;
  }
}

const scalars: ReadonlySet<string> = new Set(['bool', 'double', 'duration', 'int', 'timestamp', 'uint']);
const isScalar = (type: CelType): boolean =>
  scalars.has(type.name) || (isOptional(type) && isScalar(parameterOf(type, 0)));

const bothEntries = (a: EntrySize | undefined, b: EntrySize | undefined): EntrySize | undefined =>
  a && b && { isList: a.isList, key: union(a.key, b.key), value: union(a.value, b.value) };

/** A name for a value: no loop. */
const isBind = ({ range, condition, result }: Comprehension): boolean =>
  range.kind === 'list' &&
  range.elements.length === 0 &&
  condition.kind === 'literal' &&
  condition.text === 'false' &&
  result !== accumulator;
