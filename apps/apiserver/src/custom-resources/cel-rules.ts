import type { KubeObject, ValidationRule } from '@tinkernetes/api';
import { child, deepEqual, forbidden, index, invalid, isObject, mapKey } from '@tinkernetes/apimachinery';
import { CelEnvironment, noValue, requestBudget, someValue, type CostBudget } from '@tinkernetes/cel';
import type { FieldError } from '../contracts';
import { correlatedItem } from './correlation';
import { FieldPathError, followFieldPath } from './definition/field-path';
import { itemsOf, propertyOf, valuesOf, type Schema } from './structural-schema';
import { typedCelValue } from './typed-cel-value';

let environment: CelEnvironment | undefined;

/** Made when the first rule is met: most servers never see one. */
const celEnvironment = (): CelEnvironment => (environment ??= new CelEnvironment(['self', 'oldSelf']));

const rulesOf = (schema: Schema): readonly ValidationRule[] => schema['x-kubernetes-validations'] ?? [];

const hasRules = new WeakMap<Schema, boolean>();

/** Whether the schema has rules anywhere; remembered, as it is asked at every write. */
export function containsRules(schema: Schema): boolean {
  const known = hasRules.get(schema);
  if (known !== undefined) return known;
  const items = itemsOf(schema);
  const values = valuesOf(schema);
  const found =
    rulesOf(schema).length > 0 ||
    Object.values(schema.properties ?? {}).some(containsRules) ||
    (items !== undefined && containsRules(items)) ||
    (values !== undefined && containsRules(values));
  hasRules.set(schema, found);
  return found;
}

/**
 * What the object breaks of the schema's x-kubernetes-validations. Rules that are broken by values which an update leaves
 * alone are only told to `warn`. Source: apiextensions-apiserver/pkg/apiserver/schema/cel/validation.go.
 */
export function celErrors(
  object: KubeObject,
  schema: Schema,
  { old, warn }: { old?: KubeObject; warn?: (message: string) => void } = {},
): FieldError[] {
  if (!containsRules(schema)) return [];
  const run = new Run(warn);
  run.visit(object, old, schema, {
    path: '',
    isResource: true,
    isKept: false,
    isCorrelated: old !== undefined,
  });
  return run.errors;
}

/** What a default breaks of the rules of its part of a schema, as if it were there already, and as if it were new. */
export function celErrorsOfValue(value: unknown, schema: Schema, path: string): FieldError[] {
  if (!containsRules(schema)) return [];
  const errorsAgainst = (old: unknown): FieldError[] => {
    const run = new Run();
    run.visit(value, old, schema, { path, isResource: false, isKept: false, isCorrelated: false });
    return run.errors;
  };
  const errors = errorsAgainst(value);
  return errors.length > 0 ? errors : errorsAgainst(undefined);
}

interface Place {
  readonly path: string;
  /** The value is a whole object. */
  readonly isResource: boolean;
  /** What surrounds the value is as it was. */
  readonly isKept: boolean;
  /** Whether it is known what the value was before. */
  readonly isCorrelated: boolean;
}

/** No more rules are run: the budget is used up. */
class OutOfBudget extends Error {}

const outOfBudget =
  'validation failed due to running out of cost budget, no further validation rules will be run';

/** The rules of one object, and what they may still cost. */
class Run {
  readonly errors: FieldError[] = [];
  private readonly budget: CostBudget = { remaining: requestBudget };

  constructor(private readonly warn?: (message: string) => void) {}

  visit(value: unknown, old: unknown, schema: Schema, place: Place): void {
    try {
      this.visitPart(value, old, schema, place);
    } catch (error) {
      if (!(error instanceof OutOfBudget)) throw error;
    }
  }

  private visitPart(value: unknown, old: unknown, schema: Schema, place: Place): void {
    if (value === undefined || value === null || !containsRules(schema)) return;
    const isKept = place.isCorrelated ? deepEqual(value, old) : place.isKept;
    const rules = rulesOf(schema);
    if (rules.length > 0) this.evaluate(rules, { value, old: old ?? undefined, schema, place, isKept });
    if (Array.isArray(value)) this.visitItems(value, old, schema, { ...place, isKept });
    else if (isObject(value)) this.visitFields(value, old, schema, { ...place, isKept });
  }

  private visitItems(value: readonly unknown[], old: unknown, schema: Schema, place: Place): void {
    const items = itemsOf(schema);
    if (!items) return;
    const isResource = items['x-kubernetes-embedded-resource'] === true;
    value.forEach((item, i) => {
      const before = correlatedItem(item, old, schema);
      const isCorrelated = place.isCorrelated && before !== undefined;
      this.visitPart(item, before, items, { ...place, isResource, isCorrelated, path: index(place.path, i) });
    });
  }

  private visitFields(value: Record<string, unknown>, old: unknown, schema: Schema, place: Place): void {
    const values = valuesOf(schema);
    for (const [key, inner] of Object.entries(value)) {
      const property = propertyOf(schema, key);
      const part = property ?? values;
      if (!part) continue;
      const before = isObject(old) && Object.hasOwn(old, key) ? old[key] : undefined;
      const path = property ? child(place.path, key) : mapKey(place.path, key);
      const isResource = part['x-kubernetes-embedded-resource'] === true;
      const isCorrelated = place.isCorrelated && before !== undefined;
      this.visitPart(inner, before, part, { ...place, isResource, isCorrelated, path });
    }
  }

  private evaluate(rules: readonly ValidationRule[], at: At): void {
    const { value, old, schema, place } = at;
    const self = typedCelValue(value, schema, place.isResource);
    const oldSelf = old === undefined ? undefined : typedCelValue(old, schema, place.isResource);
    for (const rule of rules) {
      const isOptional = rule.optionalOldSelf === true;
      const usesOld = usesOldSelf(rule.rule);
      if (rule.rule.trim() === '' || (usesOld && oldSelf === undefined && !isOptional)) continue;
      const optional = oldSelf === undefined ? noValue() : someValue(oldSelf);
      const variables = {
        self,
        ...(isOptional ? { oldSelf: optional } : oldSelf === undefined ? undefined : { oldSelf }),
      };
      if (this.holds(rule, variables, at)) continue;
      const error = this.broken(rule, variables, at);
      if (!usesOld && at.isKept && this.warn) this.warn(`${error.field}: ${error.message}`);
      else this.errors.push(error);
    }
  }

  /** Whether the rule holds, or that it can't be told has been said. */
  private holds(rule: ValidationRule, variables: Variables, { schema, place }: At): boolean {
    const fail = (detail: string) => this.errors.push(invalid(place.path, schema.type ?? '', detail));
    try {
      return celEnvironment().compile(rule.rule).evaluate(variables, this.budget) === true;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const named = nameOf(rule);
      if (reason.startsWith('no such overload')) {
        fail(
          `'${reason}': call arguments did not match a supported operator, function or macro signature for rule: ${named}`,
        );
      } else if (reason.startsWith('operation cancelled: actual cost limit exceeded')) {
        fail(
          `'${reason}': no further validation rules will be run due to call cost exceeds limit for rule: ${named}`,
        );
        throw new OutOfBudget(outOfBudget, { cause: error });
      } else if (reason === outOfBudget) {
        fail(outOfBudget);
        throw new OutOfBudget(outOfBudget, { cause: error });
      } else fail(`${reason} evaluating rule: ${named}`);
      return true;
    }
  }

  private broken(rule: ValidationRule, variables: Variables, { value, schema, place }: At): FieldError {
    const field = child(place.path, ...fieldOf(rule, schema));
    const detail = this.message(rule, variables) ?? (rule.message?.trim() || `failed rule: ${nameOf(rule)}`);
    return failure(
      rule,
      field,
      schema.type === 'object' || schema.type === 'array' ? undefined : value,
      detail,
    );
  }

  /** Undefined: there is none, or none that can be used. */
  private message({ messageExpression }: ValidationRule, variables: Variables): string | undefined {
    if (!messageExpression) return undefined;
    try {
      const text = celEnvironment().compile(messageExpression).evaluate(variables, this.budget);
      const message = typeof text === 'string' ? text.trim() : '';
      const fits = message !== '' && !message.includes('\n') && Buffer.byteLength(message) <= maxMessage;
      return fits ? message : undefined;
    } catch (error) {
      // Upstream, too, falls back to the plain message when the expression fails.
      if (error instanceof Error) return undefined;
      throw error;
    }
  }
}

interface At {
  readonly value: unknown;
  readonly old: unknown;
  readonly schema: Schema;
  readonly place: Place;
  readonly isKept: boolean;
}
type Variables = Readonly<Record<string, unknown>>;

/** Bytes of a message that an expression makes. */
const maxMessage = 5 * 1024;

const usesOldSelf = (expression: string): boolean => /\boldSelf\b/.test(expression);

/** As mistakes name a rule. */
const nameOf = ({ message, rule }: ValidationRule): string => (message ? message.trim() : rule.trim());

function fieldOf({ fieldPath }: ValidationRule, schema: Schema): string[] {
  if (!fieldPath) return [];
  try {
    return [followFieldPath(fieldPath, schema).path];
  } catch (error) {
    if (error instanceof FieldPathError) return [];
    throw error;
  }
}

/** Objects and lists are not repeated in the message: their value is undefined. */
function failure(rule: ValidationRule, field: string, value: unknown, message: string): FieldError {
  switch (rule.reason) {
    case 'FieldValueForbidden':
      return forbidden(field, message);
    case 'FieldValueRequired':
      return { reason: 'FieldValueRequired', field, message: `Required value: ${message}` };
    case 'FieldValueDuplicate':
      return {
        reason: 'FieldValueDuplicate',
        field,
        message:
          value === undefined
            ? 'Duplicate value'
            : invalid(field, value).message.replace('Invalid', 'Duplicate'),
      };
    default:
      return value === undefined
        ? { reason: 'FieldValueInvalid', field, message: `Invalid value: ${message}` }
        : invalid(field, value, message);
  }
}
