import type { ValidationRule } from '@tinkernetes/api';
import { celTypes, compileExpression, type Compiled, type Names } from '@tinkernetes/cel';
import type { Schema } from '../structural-schema';
import { declaredType, maxCardinality, sizesIn, type DeclaredType } from './declared-type';

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

/** Upstream makes one up that nobody can rely on. */
const selfName = 'selfType0';
const unknown: DeclaredType = { type: celTypes.dyn, maxElements: 0, minSize: 1 };

/** Compiles the rules of one place of a schema. Source: apiextensions-apiserver/pkg/apiserver/schema/cel/compilation.go. */
export class RuleCompiler {
  private readonly self: DeclaredType;

  /** `isResource`: the schema is a whole object's. */
  constructor(schema: Schema, isResource: boolean) {
    this.self = declaredType(schema, isResource, selfName) ?? unknown;
  }

  /** How often a value of the schema can be in a request. */
  get unboundedCardinality(): number {
    return maxCardinality(this.self);
  }

  compile(rule: ValidationRule): CompiledRule {
    if (rule.rule.trim() === '') return nothing;
    const compiled = this.compiled(rule, rule.rule);
    if (compiled.error !== undefined) return { ...nothing, error: compiled.error };
    if (!isOfType(compiled, 'bool')) return { ...nothing, error: 'cel expression must evaluate to a bool' };
    const message = rule.messageExpression ? this.message(rule, rule.messageExpression) : undefined;
    return { cost: this.costOf(compiled), usesOldSelf: compiled.variables.has('oldSelf'), message };
  }

  private message(rule: ValidationRule, expression: string): CompiledExpression {
    const compiled = this.compiled(rule, expression);
    if (compiled.error !== undefined) {
      return { cost: 0, error: compiled.error.replace(/^(compilation failed|program)/, messageWords) };
    }
    if (!isOfType(compiled, 'string')) {
      return { cost: 0, error: 'messageExpression must evaluate to a string' };
    }
    return { cost: this.costOf(compiled) };
  }

  private compiled({ optionalOldSelf = false }: ValidationRule, expression: string): Compiled {
    const { type } = this.self;
    const names: Names = {
      variables: { self: type, oldSelf: optionalOldSelf ? celTypes.optionalOf(type) : type },
    };
    return compileExpression(expression, names);
  }

  private costOf = (compiled: Compiled): number => compiled.cost(sizesIn(this.self));
}

const messageWords = (found: string): string =>
  found === 'program' ? 'messageExpression' : `messageExpression ${found}`;

const isOfType = ({ type }: Compiled, wanted: string): boolean => type === wanted;
