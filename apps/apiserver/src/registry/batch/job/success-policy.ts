import type { JobSpec } from '@tinkernetes/api';
import { child, invalid, required, tooMany } from '@tinkernetes/apimachinery';
import { eachOf, notNegative } from '../../rules';
import type { Errors } from '../../rules';

export function validateSuccessPolicy(spec: JobSpec, path: string): Errors {
  const { successPolicy, completions = 0 } = spec;
  if (!successPolicy) return [];
  const policyPath = child(path, 'successPolicy');
  const rules = successPolicy.rules ?? [];
  if (spec.completionMode !== 'Indexed') {
    const shown = {
      Rules: rules.map(({ succeededIndexes, succeededCount }) => ({
        SucceededIndexes: succeededIndexes ?? null,
        SucceededCount: succeededCount ?? null,
      })),
    };
    return [invalid(policyPath, shown, 'requires indexed completion mode')];
  }
  const at = child(policyPath, 'rules');
  const errors: Errors = [];
  if (rules.length === 0) {
    const detail = 'at least one rules must be specified when the successPolicy is specified';
    errors.push(required(at, detail));
  }
  if (rules.length > 20) errors.push(tooMany(at, rules.length, 20));
  return [
    ...errors,
    ...eachOf(at, rules, (rule, rulePath) => validateSuccessRule(rule, rulePath, completions)),
  ];
}

function validateSuccessRule(
  { succeededIndexes, succeededCount }: { succeededIndexes?: string; succeededCount?: number },
  path: string,
  completions: number,
): Errors {
  const errors: Errors = [];
  if (succeededCount === undefined && succeededIndexes === undefined)
    errors.push(required(path, 'at least one of succeededCount or succeededIndexes must be specified'));
  const parsed = countIndexes(succeededIndexes ?? '', completions);
  if (parsed.problem !== undefined) {
    const detail = `error parsing succeededIndexes: ${parsed.problem}`;
    errors.push(invalid(child(path, 'succeededIndexes'), succeededIndexes, detail));
  }
  if (succeededCount === undefined) return errors;
  const at = child(path, 'succeededCount');
  errors.push(...notNegative(at, succeededCount));
  const atMost = (most: number, what: string) =>
    invalid(at, succeededCount, `must be less than or equal to ${most} (${what})`);
  if (succeededCount > completions) errors.push(atMost(completions, 'the number of specified completions'));
  if (succeededIndexes !== undefined && succeededCount > parsed.count) {
    const what = 'the number of indexes in the specified succeededIndexes field';
    errors.push(atMost(parsed.count, what));
  }
  return errors;
}

/** How many indexes `1,3-5` names. Source: batch/validation.validateIndexesFormat. */
function countIndexes(text: string, completions: number): { count: number; problem?: string } {
  let count = 0;
  let last: number | undefined;
  if (text === '') return { count };
  for (const interval of text.split(',')) {
    const limits = interval.split('-');
    if (limits.length > 2) {
      const problem = `the fragment ${JSON.stringify(interval)} violates the requirement that an index interval can have at most two parts separated by '-'`;
      return { count: 0, problem };
    }
    for (const limit of limits) {
      const quoted = JSON.stringify(limit);
      if (!/^[+-]?\d+$/.test(limit))
        return { count: 0, problem: `cannot convert string to integer for index: ${quoted}` };
      if (Number(limit) >= completions) return { count: 0, problem: `too large index: ${quoted}` };
    }
    const [from = 0, to = from] = limits.map(Number);
    const previous = limits.length > 1 && from >= to ? [from, to] : undefined;
    const order = previous ?? (last !== undefined && last >= from ? [last, from] : undefined);
    if (order) {
      const problem = `non-increasing order, previous: ${order[0]}, current: ${order[1]}`;
      return { count: 0, problem };
    }
    count += to - from + 1;
    last = to;
  }
  return { count };
}
