import {
  errorType,
  formatType,
  isOptional,
  optionalOf,
  parameter,
  parameterOf,
  type CelType,
} from './cel-type';
import type { Overload } from './overload';
import type { Expression } from './expression';
import type { Finding } from './parser';
import { assignable, mostGeneral, substitute, type Mapping } from './unification';

/** What is found out about an expression's types while it is checked, and what is wrong with them. */
export class Inference {
  readonly findings: Finding[] = [];
  private mapping: Mapping = new Map();
  private lastVariable = -1;
  private readonly types = new Map<number, CelType>();

  typeOf = ({ id }: Expression): CelType => this.types.get(id) ?? errorType;

  tell(node: { position: number }, message: string): void {
    this.findings.push({ message, position: node.position });
  }

  set(node: Expression, type: CelType): void {
    this.types.set(node.id, type);
  }

  /** A type with what its parameters are known to stand for. */
  resolved = (type: CelType): CelType => substitute(this.mapping, type);

  /** The same once nothing more can be found out: what is still open is dynamic. */
  settled = (type: CelType): CelType => substitute(this.mapping, type, { toDyn: true });

  settle(): void {
    for (const [id, type] of this.types) this.types.set(id, this.settled(type));
  }

  /** An overload whose type parameters are its own. */
  instance({ args, result, parameters }: Overload): Pick<Overload, 'args' | 'result'> {
    if (parameters.length === 0) return { args, result };
    const own: Mapping = new Map(parameters.map((name) => [name, this.newVariable()]));
    return { args: args.map((type) => substitute(own, type)), result: substitute(own, result) };
  }

  newVariable = (): CelType => parameter(`_var${++this.lastVariable}`);

  /** Whether values of the first types can be where the others are wanted; what their parameters stand for is known from then on. */
  assign(from: readonly CelType[], to: readonly CelType[]): boolean {
    const mapping = assignable(this.mapping, from, to);
    if (mapping) this.mapping = mapping;
    return mapping !== undefined;
  }

  mismatch(node: Expression, expected: CelType, found: CelType): void {
    this.tell(node, `expected type '${formatType(expected)}' but found '${formatType(found)}'`);
  }

  /** The type of what has held elements of one type so far, with another. */
  join(node: Expression, before: CelType | undefined, type: CelType): CelType {
    if (!before) return type;
    if (this.assign([before], [type])) return mostGeneral(before, type);
    this.mismatch(node, before, type);
    return errorType;
  }

  /** The type that an entry adds; of `?entry`, what is in its optional. */
  unwrapped(node: Expression, isOptionalEntry: boolean): CelType {
    const type = this.typeOf(node);
    if (!isOptionalEntry) return type;
    if (isOptional(type)) return parameterOf(type, 0);
    if (type.kind !== 'dyn') this.mismatch(node, optionalOf(type), type);
    return type;
  }

  /** Says so where an expression's type can't be the wanted one. */
  expect(node: Expression, wanted: CelType): void {
    const found = this.typeOf(node);
    if (!this.assign([wanted], [found])) this.mismatch(node, wanted, found);
  }
}
