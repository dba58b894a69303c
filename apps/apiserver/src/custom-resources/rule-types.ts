import type { ValidationRule } from '@tinkernetes/api';
import {
  createTypeChecker,
  partType,
  resourceType,
  type TypeChecker,
  type TypeSchema,
} from '@tinkernetes/cel';
import type { Schema } from './structural-schema';

/**
 * Checks a rule's expressions against the schema that they are about. Only what is beyond doubt is a mistake: a field
 * that the schema does not have, and a value that can't be what a rule or message is. Source:
 * apiextensions-apiserver/pkg/apiserver/schema/cel/compilation.go.
 */
export class RuleTypes {
  private readonly checkers = new Map<boolean, TypeChecker>();

  /** `isResource`: the schema is a whole object's. */
  constructor(
    private readonly schema: Schema,
    private readonly isResource: boolean,
  ) {}

  ruleError(rule: ValidationRule): string | undefined {
    return this.error(rule, rule.rule, { type: 'bool', detail: 'cel expression must evaluate to a bool' });
  }

  messageError(rule: ValidationRule): string | undefined {
    const { messageExpression } = rule;
    if (!messageExpression) return undefined;
    const detail = 'messageExpression must evaluate to a string';
    return this.error(rule, messageExpression, { type: 'string', detail });
  }

  private error(
    rule: ValidationRule,
    expression: string,
    expected: { type: string; detail: string },
  ): string | undefined {
    const { error, isSelection, type } = this.checker(rule).check(expression);
    if (error !== undefined) return isSelection ? `compilation failed: ${error}` : undefined;
    const isFine = type === undefined || type === 'dyn' || type === expected.type;
    return isFine ? undefined : expected.detail;
  }

  private checker({ optionalOldSelf = false }: ValidationRule): TypeChecker {
    const known = this.checkers.get(optionalOldSelf);
    if (known) return known;
    // Structural schemas say no more than what types are read from.
    const schema = this.schema as TypeSchema;
    const self = (this.isResource ? resourceType('object', schema, {}) : partType('object', schema)) ?? 'dyn';
    const checker = createTypeChecker({ self, oldSelf: optionalOldSelf ? 'dyn' : self });
    this.checkers.set(optionalOldSelf, checker);
    return checker;
  }
}
