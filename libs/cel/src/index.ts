import { LruMap } from '@tinkernetes/component-base';
import type { Compiled } from './check/compile';
import type { Names } from './check/scope';
import type { CelType } from './check/cel-type';
import { TypeChecker } from './checker';
import type { Engine } from './engine';
import type { CelProgram } from './types';

export * as celTypes from './check/cel-type';
export type { CelType } from './check/cel-type';
export type { Compiled } from './check/compile';
export type { SizeOf } from './check/cost-estimator';
export type { Names } from './check/scope';
export type { TypeChecker } from './checker';
export { costExceeded, requestBudget } from './cost';
export { escapedName, resourceType } from './resource-type';
export type { TypeSchema } from './resource-type';
export { CelAuthorizer } from './library/authorizer';
export type { CelAttributes, CelDecider, CelUser } from './library/authorizer';
export { Semver } from './library/semver';
export { authorizerTypes, namespaceType, requestType } from './policy-types';
export type { Activation, CelProgram, CostBudget } from './types';
export {
  bytesValue,
  durationValue,
  fromCelValue,
  noValue,
  someValue,
  timestampValue,
  toCelValue,
} from './values';

/** An expression that is no CEL, or has type errors. */
export class CelCompileError extends Error {
  override readonly name = 'CelCompileError';
}

const cacheSize = 2000;

/**
 * Kubernetes' CEL: the language, its libraries and its cost limits.
 * Source: https://kubernetes.io/docs/reference/using-api/cel/
 */
export class CelEnvironment {
  private engine: Engine | undefined;
  private readonly programs = new LruMap<string, CelProgram>(cacheSize);

  constructor(private readonly variables: readonly string[]) {}

  /** Throws CelCompileError. Programs are kept: policies and schemas use the same few again and again. */
  compile(expression: string): CelProgram {
    return this.programs.getOrCreate(expression, () => this.create(expression));
  }

  private create(expression: string): CelProgram {
    this.engine ??= loadEngine(this.variables);
    try {
      return this.engine.create(expression);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      throw new CelCompileError(`compilation failed: ${message}`, { cause: error });
    }
  }
}

/** The language takes tens of milliseconds to load, and most servers never see an expression. Validation can't wait. */
function loadEngine(variables: readonly string[]): Engine {
  // eslint-disable-next-line @typescript-eslint/no-require-imports
  const engine = require('./engine') as typeof import('./engine');
  return new engine.Engine(variables);
}

/** Checks expressions over variables of known types. Source: k8s.io/apiserver/pkg/admission/plugin/policy/validating. */
export const createTypeChecker = (variables: Readonly<Record<string, CelType>>): TypeChecker =>
  new TypeChecker(variables, compileExpression);

/** Compiles an expression against what it may speak of: its types, its mistakes, what it can cost. */
export function compileExpression(expression: string, names: Names): Compiled {
  // eslint-disable-next-line @typescript-eslint/no-require-imports
  const check = require('./check/compile') as typeof import('./check/compile');
  return check.compileExpression(expression, names, syntaxError);
}

let plainEnvironment: CelEnvironment | undefined;

function syntaxError(expression: string): string | undefined {
  plainEnvironment ??= new CelEnvironment([]);
  try {
    plainEnvironment.compile(expression);
    return undefined;
  } catch (error) {
    if (error instanceof CelCompileError) return error.message;
    throw error;
  }
}
