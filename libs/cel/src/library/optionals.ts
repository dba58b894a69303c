import { Optional, type ASTNode, type Environment } from '@marcbachmann/cel-js';
import { Duration, UnsignedInt } from '@marcbachmann/cel-js/evaluator';
import { asMap, equal } from './equality';
import { whenKnown } from './when-known';

/** The parts of the library that a macro gets, as far as they are used here. */
interface Type {
  readonly kind: string;
  readonly valueType?: Type;
}
interface Scope {
  forkWithVariable(name: string, type: Type): Scope;
  setIterValue(value: unknown, evaluator: Evaluator): Scope;
}
interface Checker {
  readonly registry: { getOptionalType(type: Type): Type };
  check(node: ASTNode, scope: Scope): Type;
  getType(name: string): Type;
  createError(code: string, message: string, node: ASTNode): Error;
}
interface Evaluator {
  run(node: ASTNode, scope: Scope): unknown;
}

/** What the library lacks of cel-go's optional types. Source: cel-go cel/library.go (optionalLib). */
export function registerOptionals(env: Environment): void {
  env.registerFunction('optional.optMap(ast, ast): optional<dyn>', mapping('optMap'));
  env.registerFunction('optional.optFlatMap(ast, ast): optional<dyn>', mapping('optFlatMap'));
  env.registerFunction(
    'OptionalNamespace.ofNonZeroValue(dyn): optional<dyn>',
    (_: unknown, value: unknown) => (isZero(value) ? Optional.none() : Optional.of(value)),
  );
  env.registerFunction('OptionalNamespace.unwrap(list): list<dyn>', (_: unknown, list: readonly unknown[]) =>
    unwrapped(list),
  );
  env.registerFunction('list.unwrapOpt(): list<dyn>', unwrapped);
  env.registerOperator('optional<A> == optional<A>', equal);
  registerEntries(env);
}

/** `optional.optMap(x, …)` and `optional.optFlatMap(x, …)`: the value, if there is one, as `x` in another expression. */
function mapping(name: 'optMap' | 'optFlatMap') {
  return ({ args, receiver }: { args: ASTNode[]; receiver: ASTNode }) => {
    const [variable, body] = args as [ASTNode, ASTNode];
    if (variable.op !== 'id') {
      throw Object.assign(new Error(`${name}() variable name must be a simple identifier`), {
        node: variable,
      });
    }
    let valueType: Type | undefined;
    return {
      typeCheck(checker: Checker, _call: unknown, scope: Scope): Type {
        valueType = valueOf(checker, checker.check(receiver, scope), receiver);
        const result = checker.check(body, scope.forkWithVariable(variable.args, valueType));
        if (name === 'optMap') return checker.registry.getOptionalType(result);
        valueOf(checker, result, body);
        return result;
      },
      evaluate(evaluator: Evaluator, _call: unknown, scope: Scope): unknown {
        return whenKnown(evaluator.run(receiver, scope), (optional) => {
          const value = expectOptional(optional);
          if (!value.hasValue() || !valueType) return Optional.none();
          const inner = scope
            .forkWithVariable(variable.args, valueType)
            .setIterValue(value.value(), evaluator);
          return whenKnown(evaluator.run(body, inner), (result) =>
            name === 'optMap' ? Optional.of(result) : expectOptional(result),
          );
        });
      },
    };
  };
}

function valueOf(checker: Checker, type: Type, node: ASTNode): Type {
  if (type.kind === 'optional') return type.valueType ?? checker.getType('dyn');
  if (type.kind === 'dyn') return type;
  throw checker.createError('optional_expected', `expected an optional, got '${type.kind}'`, node);
}

function expectOptional(value: unknown): Optional {
  if (value instanceof Optional) return value;
  throw new Error('no such overload');
}

/** The values of those optionals that have one. */
const unwrapped = (list: readonly unknown[]): unknown[] =>
  list
    .map(expectOptional)
    .filter((optional) => optional.hasValue())
    .map((optional) => optional.value());

/** The time that Go's clock begins with. */
const zeroTime = Date.parse('0001-01-01T00:00:00Z');

/** Whether a value is what its type begins with. Types of Kubernetes' libraries have no such value. */
function isZero(value: unknown): boolean {
  if (value instanceof UnsignedInt) return value.valueOf() === 0n;
  if (value instanceof Duration) return value.seconds === 0n && value.nanos === 0;
  if (value instanceof Date) return value.getTime() === zeroTime;
  const map = asMap(value);
  if (map) return map.size === 0;
  if (Array.isArray(value) || value instanceof Uint8Array) return value.length === 0;
  return value === null || value === false || value === '' || value === 0n || value === 0;
}

/** The names of what literals with optional parts are written as. */
export const entryNames = {
  entry: 'optionalEntry',
  list: 'listOfEntries',
  map: 'mapOfEntries',
} as const;

/** A part of a list or map that is only there if the optional has a value. */
class Entry {
  constructor(readonly optional: Optional) {}
}

function registerEntries(env: Environment): void {
  const type = 'kubernetes.OptionalEntry';
  env.registerType(type, { ctor: Entry as unknown as new () => Entry, fields: {} });
  env.registerFunction(`${entryNames.entry}(dyn): dyn`, (value: unknown) => new Entry(expectOptional(value)));
  const isThere = (part: unknown) => !(part instanceof Entry) || part.optional.hasValue();
  const valueIn = (part: unknown): unknown => (part instanceof Entry ? part.optional.value() : part);
  env.registerFunction(`${entryNames.list}(list): list<dyn>`, (parts: readonly unknown[]) =>
    parts.filter(isThere).map(valueIn),
  );
  env.registerFunction(
    `${entryNames.map}(map): map<dyn, dyn>`,
    (parts: unknown) =>
      new Map(
        [...(asMap(parts) ?? [])]
          .filter(([, part]) => isThere(part))
          .map(([key, part]) => [key, valueIn(part)] as const),
      ),
  );
}
