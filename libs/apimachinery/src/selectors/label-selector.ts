import type { LabelSelector } from '@tinkernetes/api';
import { goQuote } from '../validation/go-quote';
import { LabelSelectorParser } from './label-parser';
import { formatRequirement, newRequirement, requirementMatches } from './requirement';
import type { LabelOperator, Labels, Requirement } from './requirement';

/** A parsed label selector: all requirements must hold. */
export class Selector {
  /** Matches every set of labels. */
  static readonly everything = new Selector([]);
  /** Matches none. */
  static readonly nothing = new Selector([], false);

  constructor(
    readonly requirements: readonly Requirement[],
    private readonly satisfiable = true,
  ) {}

  get isEverything(): boolean {
    return this.satisfiable && this.requirements.length === 0;
  }

  get isNothing(): boolean {
    return !this.satisfiable;
  }

  matches(labels: Labels | undefined): boolean {
    const own = labels ?? {};
    return this.satisfiable && this.requirements.every((requirement) => requirementMatches(requirement, own));
  }

  /** The text form that `labelSelector=` takes. */
  toString(): string {
    return this.requirements.map(formatRequirement).join(',');
  }
}

/** Parses the text form; throws an Error with upstream's text. Source: k8s.io/apimachinery/pkg/labels.Parse. */
export function parseLabelSelector(text: string): Selector {
  const requirements = new LabelSelectorParser(text).parse();
  return new Selector(requirements.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)));
}

const operatorOf: Readonly<Record<string, LabelOperator>> = {
  In: 'in',
  NotIn: 'notin',
  Exists: 'exists',
  DoesNotExist: '!',
};

/**
 * Undefined matches nothing, an empty selector everything; throws an Error for unknown operators and bad values.
 * Source: k8s.io/apimachinery/pkg/apis/meta/v1.LabelSelectorAsSelector.
 */
export function selectorOf(selector: LabelSelector | undefined): Selector {
  if (!selector) return Selector.nothing;
  const byLabels = Object.entries(selector.matchLabels ?? {}).map(([key, value]) =>
    newRequirement(key, '=', [value]),
  );
  const byExpressions = (selector.matchExpressions ?? []).map(({ key, operator, values }) => {
    const known = Object.hasOwn(operatorOf, operator) ? operatorOf[operator] : undefined;
    if (!known) throw new Error(`${goQuote(operator)} is not a valid label selector operator`);
    return newRequirement(key, known, values ?? []);
  });
  return new Selector([...byLabels, ...byExpressions]);
}

/** All the pairs must be there (Service and ReplicationController selectors); an empty map matches everything. */
export function selectorOfMap(labels: Labels | undefined): Selector {
  return new Selector(
    Object.entries(labels ?? {}).map(([key, value]) => ({ key, operator: '=' as const, values: [value] })),
  );
}

/** The text form of a LabelSelector, as Table cells show it: `a=b,c in (d,e)`, `<none>` for none. */
export function formatLabelSelector(selector: LabelSelector | undefined): string {
  try {
    const parsed = selectorOf(selector);
    const sorted = [...parsed.requirements].sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
    const text = sorted.map(formatRequirement).join(',');
    return text === '' ? '<none>' : text;
  } catch (error) {
    if (error instanceof Error) return '<error>';
    throw error;
  }
}
