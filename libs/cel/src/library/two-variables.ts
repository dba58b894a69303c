import type { ASTNode, Environment } from '@marcbachmann/cel-js';
import { sorted } from './more-lists';
import { whenKnown } from './when-known';

/** The parts of the library that a macro gets, as far as they are used here. */
interface Type {
  kind: string;
  keyType?: Type;
  valueType?: Type;
  isDynOrBool(): boolean;
}
interface Scope {
  forkWithVariable(name: string, type: Type): Scope;
  setIterValue(value: unknown, evaluator: Evaluator): Scope;
}
interface Checker {
  check(node: ASTNode, scope: Scope): Type;
  getType(name: string): Type;
  createError(code: string, message: string, node: ASTNode): Error;
}
interface Evaluator {
  run(node: ASTNode, scope: Scope): unknown;
}
type Entry = readonly [key: unknown, value: unknown];
interface Macro {
  readonly name: string;
  readonly receiver: ASTNode;
  readonly variables: readonly [string, string];
  readonly filter: ASTNode | undefined;
  readonly body: ASTNode;
  /** Known when the types have been checked. */
  types?: readonly [Type, Type];
}

/** What is made of the body's results, one for each element. */
type Finish = (results: readonly Outcome[], entries: readonly Entry[]) => unknown;
type Outcome = { readonly value: unknown } | { readonly error: unknown };

const valueOf = (outcome: Outcome): unknown => {
  if ('error' in outcome) throw outcome.error;
  return outcome.value;
};

/** The deciding value, whatever fails beside it; otherwise the first failure, or the other value. */
function quantified(results: readonly Outcome[], deciding: boolean): boolean {
  if (results.some((outcome) => 'value' in outcome && outcome.value === deciding)) return deciding;
  results.forEach(valueOf);
  return !deciding;
}

function entriesToMap(results: readonly Outcome[]): Map<unknown, unknown> {
  const out = new Map<unknown, unknown>();
  for (const [key, value] of results.map(valueOf).flatMap(entriesOf)) {
    if (out.has(key)) throw new Error(`insert failed: key ${String(key)} already exists`);
    out.set(key, value);
  }
  return out;
}

const quantifiers: Readonly<Record<string, Finish>> = {
  all: (results) => quantified(results, false),
  exists: (results) => quantified(results, true),
  existsOne: (results) => results.map(valueOf).filter((value) => value === true).length === 1,
  exists_one: (results) => results.map(valueOf).filter((value) => value === true).length === 1,
};
/** The elements in the order of what the body is for each. */
const inOrder: Finish = (results, entries) =>
  sorted(
    entries.map(([, value]) => value),
    results.map(valueOf) as (bigint | number | string | boolean)[],
  );

const transformations: Readonly<Record<string, Finish>> = {
  transformList: (results) => results.map(valueOf),
  transformMap: (results, entries) => new Map(results.map((result, i) => [entries[i]?.[0], valueOf(result)])),
  transformMapEntry: entriesToMap,
};

/**
 * Comprehensions with two variables: index and value of a list, key and value of a map.
 * Source: cel-go ext.TwoVarComprehensions.
 */
export function registerTwoVariables(env: Environment): void {
  for (const [name, finish] of Object.entries(quantifiers)) {
    env.registerFunction(`list.${name}(ast, ast, ast): bool`, expander(name, finish, 'bool'));
  }
  for (const [name, finish] of Object.entries(transformations)) {
    const type = name === 'transformList' ? 'list<dyn>' : 'map<dyn, dyn>';
    env.registerFunction(`list.${name}(ast, ast, ast): ${type}`, expander(name, finish, type));
    env.registerFunction(`list.${name}(ast, ast, ast, ast): ${type}`, expander(name, finish, type));
  }
  env.registerFunction('list.sortBy(ast, ast): list<dyn>', expander('sortBy', inOrder, 'list<dyn>'));
}

function expander(name: string, finish: Finish, resultType: string) {
  return ({ args, receiver }: { args: ASTNode[]; receiver: ASTNode }) => {
    const [key, value] = args as [ASTNode, ASTNode];
    const hasOne = args.length === 2;
    const macro: Macro = {
      name,
      receiver,
      // What has one variable has no name for the index.
      variables: hasOne ? ['', variableName(key)] : [variableName(key), variableName(value)],
      filter: args.length === 4 ? args[2] : undefined,
      body: args[args.length - 1] as ASTNode,
    };
    return {
      macro,
      typeCheck(checker: Checker, _call: unknown, scope: Scope): Type {
        const types = elementTypes(checker, checker.check(receiver, scope), receiver);
        macro.types = types;
        const inner = scope
          .forkWithVariable(macro.variables[0], types[0])
          .forkWithVariable(macro.variables[1], types[1]);
        const conditions = [macro.filter, resultType === 'bool' ? macro.body : undefined];
        for (const condition of conditions) {
          if (condition && !checker.check(condition, inner).isDynOrBool())
            throw checker.createError('invalid_predicate', `${name}() predicate must return bool`, condition);
        }
        checker.check(macro.body, inner);
        return checker.getType(resultType);
      },
      evaluate(evaluator: Evaluator, _call: unknown, scope: Scope): unknown {
        return whenKnown(evaluator.run(receiver, scope), (range) =>
          evaluateOver(entriesOf(range), {
            macro,
            evaluator,
            scope,
            finish,
            isPredicate: resultType === 'bool',
          }),
        );
      },
    };
  };
}

function variableName(node: ASTNode): string {
  if (node.op === 'id') return node.args;
  throw Object.assign(new Error('argument must be a simple name'), { node });
}

function elementTypes(checker: Checker, range: Type, node: ASTNode): [Type, Type] {
  const dyn = checker.getType('dyn');
  if (range.kind === 'list') return [checker.getType('int'), range.valueType ?? dyn];
  if (range.kind === 'map') return [range.keyType ?? dyn, range.valueType ?? dyn];
  if (range.kind === 'dyn') return [dyn, dyn];
  throw checker.createError(
    'invalid_range',
    `expression of type '${range.kind}' cannot be range of a comprehension (must be list, map, or dynamic)`,
    node,
  );
}

/** Index and value, or key and value. */
function entriesOf(range: unknown): Entry[] {
  if (Array.isArray(range)) return range.map((value, i) => [BigInt(i), value]);
  if (range instanceof Map) return [...range];
  if (typeof range === 'object' && range !== null) return Object.entries(range);
  throw new Error('no such overload');
}

interface Run {
  readonly macro: Macro;
  readonly evaluator: Evaluator;
  readonly scope: Scope;
  readonly finish: Finish;
  readonly isPredicate: boolean;
}

/** Results may be promises: what asks the authorizer takes time. */
function evaluateOver(entries: readonly Entry[], run: Run): unknown {
  const { macro, evaluator, finish } = run;
  const kept = macro.filter
    ? whenAllKnown(
        entries.map((entry) => predicate(evaluator.run(macro.filter as ASTNode, scopeOf(entry, run)))),
        (isKept) => entries.filter((_, i) => isKept[i] === true),
      )
    : entries;
  return whenKnown(kept, (chosen) =>
    whenAllKnown(
      chosen.map((entry) => outcomeOf(entry, run)),
      (outcomes) => finish(outcomes, chosen),
    ),
  );
}

function scopeOf([key, value]: Entry, { macro, scope, evaluator }: Run): Scope {
  const [keyType, valueType] = macro.types ?? [];
  if (!keyType || !valueType) throw new Error(`${macro.name}() has not been checked`);
  return scope
    .forkWithVariable(macro.variables[0], keyType)
    .setIterValue(key, evaluator)
    .forkWithVariable(macro.variables[1], valueType)
    .setIterValue(value, evaluator);
}

function outcomeOf(entry: Entry, run: Run): Outcome | Promise<Outcome> {
  const check = run.isPredicate ? predicate : (value: unknown) => value;
  try {
    const value = run.evaluator.run(run.macro.body, scopeOf(entry, run));
    if (!(value instanceof Promise)) return { value: check(value) };
    return value.then(
      (known: unknown) => ({ value: check(known) }),
      (error: unknown) => ({ error }),
    );
  } catch (error) {
    return { error };
  }
}

function predicate(value: unknown): unknown {
  if (typeof value === 'boolean' || value instanceof Promise) return value;
  throw new Error('no such overload');
}

const whenAllKnown = <T, R>(
  values: readonly (T | Promise<T>)[],
  next: (values: T[]) => R,
): R | Promise<Awaited<R>> =>
  values.some((value) => value instanceof Promise)
    ? (Promise.all(values).then(next) as Promise<Awaited<R>>)
    : next(values as T[]);
