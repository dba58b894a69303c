import type { ValidationRule } from '@tinkernetes/api';
import { child, forbidden, index, invalid } from '@tinkernetes/apimachinery';
import type { FieldError } from '../../contracts';
import type { Schema } from '../structural-schema';
import type { Cardinality } from './cardinality';
import { internalRule } from './internal-schema';
import { RuleCompiler } from './rule-compiler';

/** What one rule, and all rules of a schema, may cost in the worst case. Source: apiextensions/validation. */
const ruleLimit = 10_000_000;
const schemaLimit = 100_000_000;
const maxCost = 2 ** 64;

/** The cost of all rules of a schema, and which of them are the most expensive. */
export class RuleCosts {
  private total = 0;
  private top: { path: string; cost: number }[] = [];

  observe(path: string, cost: number): void {
    this.total = Math.min(maxCost, this.total + cost);
    if (cost < schemaLimit / 100) return;
    this.top = [...this.top, { path, cost }].sort((a, b) => b.cost - a.cost).slice(0, 4);
  }

  errors(path: string): FieldError[] {
    if (this.total <= schemaLimit) return [];
    const part = 'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema';
    const whole = 'x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema';
    return [
      ...this.top.map(({ path: at }) => forbidden(at, part)),
      forbidden(path, tooExpensive(whole, this.total, schemaLimit)),
    ];
  }
}

export interface RulePlace {
  readonly path: string;
  readonly isResource: boolean;
  readonly uncorrelatable: string | undefined;
  readonly cardinality: Cardinality;
  readonly costs: RuleCosts;
}

/** What is wrong with the expressions of one place of a schema. */
export function expressionErrors(schema: Schema, place: RulePlace): FieldError[] {
  const rules = schema['x-kubernetes-validations'] ?? [];
  if (rules.length === 0) return [];
  const compiler = new RuleCompiler(schema, place.isResource);
  return rules.flatMap((rule, i) => {
    const at = index(child(place.path, 'x-kubernetes-validations'), i);
    return [...ruleErrors(rule, compiler, { ...place, path: at })];
  });
}

function ruleErrors(rule: ValidationRule, compiler: RuleCompiler, place: RulePlace): FieldError[] {
  const errors: FieldError[] = [];
  const rulePath = child(place.path, 'rule');
  const { error, cost, usesOldSelf, message } = compiler.compile(rule);
  const total = Math.min(maxCost, cost * (place.cardinality ?? compiler.unboundedCardinality));
  if (total > ruleLimit)
    errors.push(forbidden(rulePath, tooExpensive('estimated rule cost', total, ruleLimit)));
  place.costs.observe(rulePath, total);
  if (error !== undefined) errors.push(invalid(rulePath, internalRule(rule), error));
  const messagePath = child(place.path, 'messageExpression');
  if (message?.error !== undefined) errors.push(invalid(messagePath, internalRule(rule), message.error));
  else if (message) {
    if (message.cost > ruleLimit) {
      const text = tooExpensive('estimated messageExpression cost', message.cost, ruleLimit);
      errors.push(forbidden(messagePath, text));
    }
    place.costs.observe(messagePath, message.cost);
  }
  if (usesOldSelf && place.uncorrelatable !== undefined) {
    const detail = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${place.uncorrelatable}`;
    errors.push(invalid(rulePath, rule.rule, detail));
  } else if (!usesOldSelf && rule.optionalOldSelf !== undefined) {
    const detail = 'may not be set if oldSelf is not used in rule';
    errors.push(invalid(child(place.path, 'optionalOldSelf'), rule.optionalOldSelf, detail));
  }
  return errors;
}

const advice =
  '(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)';

const tooExpensive = (what: string, cost: number, limit: number): string =>
  `${what} exceeds budget by factor of ${excess(cost / limit)} ${advice}`;

/** `more than 100x`, `2.3x`; factors that would be rounded to 1.0 in full. */
function excess(factor: number): string {
  if (factor > 100) return 'more than 100x';
  return factor < 1.5 ? `${factor.toFixed(6)}x` : `${factor.toFixed(1)}x`;
}
