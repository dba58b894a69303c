import { bool, int } from './cel-type';
import type { Call, Comprehension, Expression, Ident, Literal } from './expression';

/** Makes nodes with names of their own. */
export interface NodeFactory {
  next(): number;
}

/** What is wrong with the use of a macro, and where. */
export class MacroError extends Error {
  override readonly name = 'MacroError';

  constructor(
    message: string,
    readonly position: number,
  ) {
    super(message);
  }
}

const accumulator = '@result';

/** A call as it is written, whose macro may be expanded. */
interface Use {
  readonly target: Expression;
  readonly args: readonly Expression[];
  readonly position: number;
}

/** Expands the macros of cel-go's standard, of its extensions, and of optionals. Source: cel-go parser/macro.go, ext, cel. */
export class Macros {
  constructor(private readonly nodes: NodeFactory) {}

  /** The comprehension that a call on a receiver stands for; undefined: it is a call. */
  receiver(name: string, use: Use): Expression | undefined {
    const { args } = use;
    switch (args.length) {
      case 2:
        return this.oneVariable(name, use);
      case 3:
        return name === 'map' ? this.oneVariable(name, use) : this.twoVariables(name, use);
      case 4:
        return ['transformList', 'transformMap', 'transformMapEntry'].includes(name)
          ? this.twoVariables(name, use)
          : undefined;
      default:
        return undefined;
    }
  }

  has(argument: Expression | undefined, position: number): Expression {
    if (argument?.kind !== 'select' || argument.isTest) {
      throw new MacroError('invalid argument to has() macro', argument?.position ?? position);
    }
    return { ...argument, id: this.nodes.next(), position, isTest: true };
  }

  private oneVariable(name: string, use: Use): Expression | undefined {
    const [variable, first, second] = use.args as [Expression, Expression, Expression | undefined];
    const make = new Parts(this.nodes, use.position);
    const loop = (parts: LoopParts) => make.loop(use.target, [this.nameOf(variable)], parts);
    switch (name) {
      case 'all':
      case 'exists':
      case 'exists_one':
      case 'existsOne':
        return loop(make.quantified(name, first));
      case 'filter':
        return loop(make.collecting(variable, first));
      case 'map':
        return second ? loop(make.collecting(second, first)) : loop(make.collecting(first));
      case 'sortBy':
        return this.sortBy(use, this.nameOf(variable), first);
      case 'optMap':
      case 'optFlatMap':
        return this.optional(name, use, first);
      default:
        return undefined;
    }
  }

  private twoVariables(name: string, use: Use): Expression | undefined {
    const [key, value, ...bodies] = use.args as [Expression, Expression, ...Expression[]];
    const body = bodies[bodies.length - 1] as Expression;
    const filter = bodies.length > 1 ? bodies[0] : undefined;
    const make = new Parts(this.nodes, use.position);
    const loop = (parts: LoopParts) => make.loop(use.target, [this.nameOf(key), this.nameOf(value)], parts);
    switch (name) {
      case 'all':
      case 'exists':
      case 'exists_one':
      case 'existsOne':
        return loop(make.quantified(name, body));
      case 'transformList':
        return loop(make.collecting(body, filter));
      case 'transformMap':
        return loop(make.inserting([key, body], filter));
      case 'transformMapEntry':
        return loop(make.inserting([body], filter));
      default:
        return undefined;
    }
  }

  private nameOf(variable: Expression): string {
    if (variable.kind === 'ident' && !variable.name.includes('.')) return variable.name;
    throw new MacroError('argument must be a simple name', variable.position);
  }

  private sortBy({ target, position }: Use, name: string, key: Expression): Expression {
    const make = new Parts(this.nodes, position);
    const input = '@__sortBy_input__';
    const range = make.ident(input);
    const keys = make.loop(range, [name], make.collecting(key));
    const sorted = make.call('@sortByAssociatedKeys', [keys], make.ident(input));
    return make.bind(input, target, sorted);
  }

  private optional(name: string, { target, args, position }: Use, body: Expression): Expression {
    const make = new Parts(this.nodes, position);
    const variable = this.nameOf(args[0] as Expression);
    const bound = make.bind(variable, make.call('value', [], target), body);
    const some = name === 'optMap' ? make.call('optional.of', [bound]) : bound;
    const has = make.call('hasValue', [], target);
    return make.call('_?_:_', [has, some, make.call('optional.none', [])]);
  }
}

interface LoopParts {
  readonly init: Expression;
  readonly condition: Expression;
  readonly step: Expression;
  readonly end: Expression;
}

/** The parts that expanded macros consist of, all at the macro's place. */
class Parts {
  constructor(
    private readonly nodes: NodeFactory,
    private readonly position: number,
  ) {}

  ident = (name: string): Ident => ({ kind: 'ident', id: this.nodes.next(), position: this.position, name });

  call = (name: string, args: readonly Expression[], target?: Expression): Call => ({
    kind: 'call',
    id: this.nodes.next(),
    position: this.position,
    name,
    args,
    ...(target && { target }),
  });

  loop(
    range: Expression,
    [variable = '', secondVariable]: readonly string[],
    parts: LoopParts,
  ): Comprehension {
    return {
      kind: 'comprehension',
      id: this.nodes.next(),
      position: this.position,
      range,
      variable,
      ...(secondVariable !== undefined && { secondVariable }),
      result: accumulator,
      ...parts,
    };
  }

  bind(name: string, value: Expression, body: Expression): Comprehension {
    return {
      kind: 'comprehension',
      id: this.nodes.next(),
      position: this.position,
      range: this.list([]),
      variable: '#unused',
      result: name,
      init: value,
      condition: this.literal(bool, 'false'),
      step: this.ident(name),
      end: body,
    };
  }

  quantified(name: string, body: Expression): LoopParts {
    const so = () => this.ident(accumulator);
    if (name === 'all') {
      const condition = this.call('@not_strictly_false', [so()]);
      return {
        init: this.literal(bool, 'true'),
        condition,
        step: this.call('_&&_', [so(), body]),
        end: so(),
      };
    }
    if (name === 'exists') {
      const condition = this.call('@not_strictly_false', [this.call('!_', [so()])]);
      return {
        init: this.literal(bool, 'false'),
        condition,
        step: this.call('_||_', [so(), body]),
        end: so(),
      };
    }
    const more = this.call('_+_', [so(), this.literal(int, '1')]);
    return {
      init: this.literal(int, '0'),
      condition: this.literal(bool, 'true'),
      step: this.call('_?_:_', [body, more, so()]),
      end: this.call('_==_', [so(), this.literal(int, '1')]),
    };
  }

  /** A list of what `element` is for each. */
  collecting(element: Expression, filter?: Expression): LoopParts {
    const added = this.call('_+_', [this.ident(accumulator), this.list([element])]);
    return this.accumulating(this.list([]), added, filter);
  }

  /** A map of a key and a value for each, or of the entries of a map for each. */
  inserting(parts: readonly Expression[], filter?: Expression): LoopParts {
    const inserted = this.call('cel.@mapInsert', [this.ident(accumulator), ...parts]);
    const init: Expression = { kind: 'map', id: this.nodes.next(), position: this.position, entries: [] };
    return this.accumulating(init, inserted, filter);
  }

  private accumulating(init: Expression, added: Expression, filter?: Expression): LoopParts {
    const step = filter ? this.call('_?_:_', [filter, added, this.ident(accumulator)]) : added;
    return { init, condition: this.literal(bool, 'true'), step, end: this.ident(accumulator) };
  }

  private list = (elements: readonly Expression[]): Expression => ({
    kind: 'list',
    id: this.nodes.next(),
    position: this.position,
    elements,
    optional: new Set(),
  });

  private literal = (type: Literal['type'], text: string): Literal => ({
    kind: 'literal',
    id: this.nodes.next(),
    position: this.position,
    type,
    text,
  });
}
