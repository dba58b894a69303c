import type { KubeObject, ValidationRule } from '@tinkernetes/api';
import { isObject, deepEqual, forbidden, invalid } from '@tinkernetes/apimachinery';
import {
  CelCompileError,
  CelEnvironment,
  requestBudget,
  toCelValue,
  type CostBudget,
} from '@tinkernetes/cel';
import type { FieldError } from '../contracts';
import {
  estimatedCost,
  excess,
  ruleCostLimit,
  schemaCostLimit,
  timesRun,
  withinElements,
  type Cardinality,
} from './rule-cost';
import { RuleTypes } from './rule-types';
import { itemsOf, propertyOf, valuesOf, type Schema } from './structural-schema';

let environment: CelEnvironment | undefined;

/** Made when the first rule is met: most servers never see one. */
const celEnvironment = (): CelEnvironment => (environment ??= new CelEnvironment(['self', 'oldSelf']));

const rulesOf = (schema: Schema): readonly ValidationRule[] => schema['x-kubernetes-validations'] ?? [];

const hasRules = new WeakMap<Schema, boolean>();

/** Whether the schema has rules anywhere; remembered, as it is asked at every write. */
function containsRules(schema: Schema): boolean {
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

/** What the object breaks of the schema's x-kubernetes-validations. Values that an update leaves alone are not held against it. */
export function celErrors(object: KubeObject, old: KubeObject | undefined, schema: Schema): FieldError[] {
  if (!containsRules(schema)) return [];
  const errors: FieldError[] = [];
  visit(asSelf(object), old && asSelf(old), schema, {
    path: '',
    errors,
    budget: { remaining: requestBudget },
  });
  return errors.sort((a, b) => (a.field < b.field ? -1 : a.field > b.field ? 1 : 0));
}

/** At the root, metadata has only name and generateName. */
function asSelf(object: KubeObject): Record<string, unknown> {
  const { name, generateName } = object.metadata;
  return { ...object, metadata: { name, ...(generateName ? { generateName } : undefined) } };
}

interface Visit {
  path: string;
  errors: FieldError[];
  budget: CostBudget;
}

function visit(value: unknown, old: unknown, schema: Schema, at: Visit): void {
  if (value === undefined || value === null || !containsRules(schema)) return;
  if (old !== undefined && deepEqual(value, old)) return;
  for (const rule of rulesOf(schema)) {
    const error = evaluate(rule, value, old, at);
    if (error) at.errors.push(error);
  }
  if (Array.isArray(value)) visitItems(value, old, schema, at);
  else if (isObject(value)) {
    const values = valuesOf(schema);
    for (const [key, inner] of Object.entries(value)) {
      const property = propertyOf(schema, key) ?? values;
      const before = isObject(old) ? old[key] : undefined;
      if (property) visit(inner, before, property, { ...at, path: at.path ? `${at.path}.${key}` : key });
    }
  }
}

/** Elements of list maps are compared with those of the same keys; others have no old self. */
function visitItems(value: readonly unknown[], old: unknown, schema: Schema, at: Visit): void {
  const items = itemsOf(schema);
  if (!items) return;
  const keys = schema['x-kubernetes-list-type'] === 'map' ? (schema['x-kubernetes-list-map-keys'] ?? []) : [];
  value.forEach((item, i) => {
    const before =
      keys.length && isObject(item) && Array.isArray(old)
        ? old.find((other) => isObject(other) && keys.every((key) => deepEqual(other[key], item[key])))
        : undefined;
    visit(item, before, items, { ...at, path: `${at.path}[${i}]` });
  });
}

const usesOldSelf = (expression: string): boolean => /\boldSelf\b/.test(expression);

function evaluate(
  rule: ValidationRule,
  value: unknown,
  old: unknown,
  { path, budget }: Visit,
): FieldError | undefined {
  if (usesOldSelf(rule.rule) && old === undefined) return undefined;
  const variables = {
    self: toCelValue(value),
    ...(old === undefined ? undefined : { oldSelf: toCelValue(old) }),
  };
  const field = rule.fieldPath ? `${path}${rule.fieldPath}` : path;
  try {
    if (celEnvironment().compile(rule.rule).evaluate(variables, budget) === true) return undefined;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return withoutValue(field, value, `rule: ${rule.rule}: ${reason}`);
  }
  return failure(rule, field, value, messageOf(rule, variables, budget));
}

function messageOf(rule: ValidationRule, variables: Record<string, unknown>, budget: CostBudget): string {
  const fallback = rule.message ?? `failed rule: ${rule.rule}`;
  if (!rule.messageExpression) return fallback;
  try {
    const text = celEnvironment().compile(rule.messageExpression).evaluate(variables, budget);
    return typeof text === 'string' && text.trim() !== '' && !text.includes('\n') ? text : fallback;
  } catch (error) {
    // Upstream, too, falls back to the plain message when the expression fails.
    if (error instanceof Error) return fallback;
    throw error;
  }
}

function failure(rule: ValidationRule, field: string, value: unknown, message: string): FieldError {
  switch (rule.reason) {
    case 'FieldValueForbidden':
      return forbidden(field, message);
    case 'FieldValueRequired':
      return { reason: 'FieldValueRequired', field, message: `Required value: ${message}` };
    case 'FieldValueDuplicate':
      return { reason: 'FieldValueDuplicate', field, message: `Duplicate value: ${JSON.stringify(value)}` };
    default:
      return withoutValue(field, value, message);
  }
}

/** Objects and lists are not repeated in the message. */
const withoutValue = (field: string, value: unknown, message: string): FieldError =>
  isObject(value) || Array.isArray(value)
    ? { reason: 'FieldValueInvalid', field, message: `Invalid value: ${message}` }
    : invalid(field, value, message);

/** Rules of a definition that are no CEL, or not about its schema; `isRoot`: the schema is a whole object's. */
export function ruleErrors(schema: Schema, path: string, isRoot: boolean): FieldError[] {
  const types = new RuleTypes(schema, isRoot || schema['x-kubernetes-embedded-resource'] === true);
  return rulesOf(schema).flatMap((rule, i) => {
    const at = `${path}.x-kubernetes-validations[${i}]`;
    const errors: FieldError[] = [];
    const reason = compileError(rule.rule) ?? types.ruleError(rule);
    if (reason) errors.push(invalid(`${at}.rule`, internalRule(rule), reason));
    const messageReason =
      (rule.messageExpression ? compileError(rule.messageExpression) : undefined) ?? types.messageError(rule);
    if (messageReason) errors.push(invalid(`${at}.messageExpression`, internalRule(rule), messageReason));
    return errors;
  });
}

interface RuleCost {
  readonly at: string;
  readonly what: string;
  readonly cost: number;
}

const advice =
  '(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)';
const tooExpensive = (what: string, cost: number, limit: number): string =>
  `${what} exceeds budget by factor of ${excess(cost, limit)} ${advice}`;

/** Rules that could cost too much, alone or together. */
export function costErrors(root: Schema, path: string): FieldError[] {
  const rules: RuleCost[] = [];
  collectCosts(root, { path, cardinality: 1 }, rules);
  const total = rules.reduce((sum, { cost }) => sum + cost, 0);
  const errors = rules
    .filter(({ cost }) => cost > ruleCostLimit)
    .map(({ at, what, cost }) => forbidden(at, tooExpensive(what, cost, ruleCostLimit)));
  if (total <= schemaCostLimit) return errors;
  const contributors = rules
    .filter(({ cost }) => cost > schemaCostLimit / 10)
    .map(({ at }) =>
      forbidden(
        at,
        'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema',
      ),
    );
  const whole = 'x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema';
  return [...contributors, ...errors, forbidden(path, tooExpensive(whole, total, schemaCostLimit))];
}

interface Place {
  readonly path: string;
  readonly cardinality: Cardinality;
}

function collectCosts(schema: Schema, { path, cardinality }: Place, out: RuleCost[]): void {
  rulesOf(schema).forEach(({ rule, messageExpression }, i) => {
    const at = `${path}.x-kubernetes-validations[${i}]`;
    const cost = costOfExpression(rule, schema) * timesRun(cardinality, schema);
    out.push({ at: `${at}.rule`, what: 'estimated rule cost', cost });
    if (!messageExpression) return;
    const what = 'estimated messageExpression cost';
    out.push({ at: `${at}.messageExpression`, what, cost: costOfExpression(messageExpression, schema) });
  });
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    collectCosts(property, { path: `${path}.properties[${name}]`, cardinality }, out);
  }
  const within = withinElements(cardinality, schema);
  const items = itemsOf(schema);
  if (items) collectCosts(items, { path: `${path}.items`, cardinality: within }, out);
  const values = isObject(schema.additionalProperties) ? valuesOf(schema) : undefined;
  if (values) collectCosts(values, { path: `${path}.additionalProperties`, cardinality: within }, out);
}

/** What is no CEL costs nothing: it is refused anyway. */
function costOfExpression(expression: string, schema: Schema): number {
  if (compileError(expression) !== undefined) return 0;
  return estimatedCost(celEnvironment().compile(expression), schema);
}

function compileError(expression: string): string | undefined {
  try {
    celEnvironment().compile(expression);
    return undefined;
  } catch (error) {
    if (error instanceof CelCompileError) return error.message;
    throw error;
  }
}

/** A rule as Go prints the internal one. */
const internalRule = (rule: ValidationRule): object => ({
  Rule: rule.rule,
  Message: rule.message ?? '',
  MessageExpression: rule.messageExpression ?? '',
  Reason: rule.reason ?? null,
  FieldPath: rule.fieldPath ?? '',
  OptionalOldSelf: rule.optionalOldSelf ?? null,
});
