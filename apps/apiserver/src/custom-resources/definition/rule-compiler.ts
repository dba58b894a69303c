import type { ValidationRule } from '@tinkernetes/api';
import { CelCompileError, CelEnvironment } from '@tinkernetes/cel';
import { estimatedCost, timesRun } from '../rule-cost';
import { RuleTypes } from '../rule-types';
import type { Schema } from '../structural-schema';

export interface CompiledExpression {
  readonly error?: string;
  /** The most that it can cost; 0 where it is none. */
  readonly cost: number;
}
export interface CompiledRule extends CompiledExpression {
  readonly usesOldSelf: boolean;
  /** Undefined where there is none, or nothing was looked at. */
  readonly message?: CompiledExpression;
}

const nothing: CompiledRule = { cost: 0, usesOldSelf: false };

let environment: CelEnvironment | undefined;
const celEnvironment = (): CelEnvironment => (environment ??= new CelEnvironment(['self', 'oldSelf']));

/** Compiles the rules of one place of a schema. Source: apiextensions-apiserver/pkg/apiserver/schema/cel/compilation.go. */
export class RuleCompiler {
  private readonly types: RuleTypes;

  constructor(
    private readonly schema: Schema,
    isResource: boolean,
  ) {
    this.types = new RuleTypes(schema, isResource);
  }

  /** How often a value of the schema can be in a request. */
  get unboundedCardinality(): number {
    return timesRun(undefined, this.schema);
  }

  compile(rule: ValidationRule): CompiledRule {
    if (rule.rule.trim() === '') return nothing;
    const error = syntaxError(rule.rule) ?? this.types.ruleError(rule);
    if (error !== undefined) return { ...nothing, error };
    const usesOldSelf = /\boldSelf\b/.test(rule.rule);
    const compiled = { cost: this.costOf(rule.rule), usesOldSelf };
    const { messageExpression } = rule;
    if (!messageExpression) return compiled;
    const messageError = syntaxError(messageExpression) ?? this.types.messageError(rule);
    const message =
      messageError === undefined
        ? { cost: this.costOf(messageExpression) }
        : { error: messageError.replace(/^compilation failed/, 'messageExpression $&'), cost: 0 };
    return { ...compiled, message };
  }

  private costOf(expression: string): number {
    return estimatedCost(celEnvironment().compile(expression), this.schema);
  }
}

function syntaxError(expression: string): string | undefined {
  try {
    celEnvironment().compile(expression);
    return undefined;
  } catch (error) {
    if (error instanceof CelCompileError) return error.message;
    throw error;
  }
}
