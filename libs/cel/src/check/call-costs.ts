import { formatType, parameterOf, type CelType } from './cel-type';
import { fixed, plus, scaled, times, unknownSize, type Range } from './cost-range';
import type { Expression } from './expression';

/** What one call costs beside its operands, and how large its value can be. */
export interface CallCost {
  readonly cost: Range;
  readonly size?: Range;
}

/** An operand of a call. */
export interface Operand {
  readonly node: Expression;
  readonly type: CelType;
  /** How large it can be; undefined: nobody knows. */
  readonly size: Range | undefined;
  /** How large elements of a list can be. */
  elementSize(): Range | undefined;
}

export interface CallOperands {
  readonly target?: Operand;
  readonly args: readonly Operand[];
  readonly overload: string;
}

const textFactor = 0.1;
const regexFactor = 0.25;
const listBase = 10;
const nameFormatRegexSize = 128;
const one = fixed(1);
const sizeOf = (operand: Operand | undefined): Range => operand?.size ?? unknownSize;
const traversed = (operand: Operand | undefined, factor = 1): Range =>
  scaled(sizeOf(operand), factor * textFactor);
const intOf = (operand: Operand | undefined, fallback: number): number =>
  operand?.node.kind === 'literal' && /^-?\d+$/.test(operand.node.text)
    ? Number(operand.node.text)
    : fallback;

type Rule = (operands: CallOperands) => CallCost | undefined;
const nominal: Rule = () => ({ cost: one });

const parsing: Rule = ({ args }) => ({ cost: traversed(args[0]) });
const keepingSize: Rule = ({ target }) => ({ cost: traversed(target), size: sizeOf(target) });

/** One for each element, and more for texts. */
const eachElement: Rule = ({ target }) => {
  if (!target) return undefined;
  if (target.type.kind !== 'list') return { cost: traversed(target) };
  const isText = ['string', 'bytes'].includes(parameterOf(target.type, 0).name);
  const each = isText ? plus(one, scaled(target.elementSize() ?? unknownSize, textFactor)) : one;
  return { cost: times(sizeOf(target), each) };
};

const searching: Rule = ({ target, args }) => {
  const text = scaled(plus(sizeOf(target), one), textFactor);
  const cost = times(text, scaled(sizeOf(args[0]), regexFactor));
  return { cost, size: { min: 0, max: sizeOf(target).max } };
};

/** Bytes of the shorter and the longer addresses. */
const addressSize: Range = { min: 4, max: 16 };
const addressCost = scaled(plus(addressSize, addressSize), textFactor);

const containsAddress: Rule = ({ args, overload }) => ({
  cost: overload === 'cidr_contains_ip_string' ? plus(addressCost, traversed(args[0])) : addressCost,
});
const containsNetwork: Rule = ({ args, overload }) => {
  const masked = plus(plus(addressCost, scaled(addressSize, textFactor)), one);
  return { cost: overload === 'cidr_contains_cidr_string' ? plus(masked, traversed(args[0])) : masked };
};

const selectorCost: Rule = ({ args }) => {
  const size = sizeOf(args[0]);
  const requirements = scaled(scaled(size, 0.5), listBase + 40);
  return { cost: plus(plus(fixed(listBase), scaled(size, textFactor)), requirements) };
};

const replacing: Rule = ({ target, args }) => {
  const size = sizeOf(target);
  const [from, to] = [sizeOf(args[0]), sizeOf(args[1])];
  const most = longestReplacement(size.max, from.min, to.max);
  const least = shortestReplacement(size.min, from.max, to.min);
  const count = { min: least.count, max: most.count };
  const kept = { min: least.kept, max: most.kept };
  return { cost: scaled(size, 2 * textFactor), size: plus(times(count, to), kept) };
};

interface Replacement {
  readonly count: number;
  readonly kept: number;
}

function longestReplacement(size: number, from: number, to: number): Replacement {
  if (from === 0) return { count: size + 1, kept: size };
  return to <= from ? { count: 0, kept: size } : { count: Math.ceil(size / from), kept: 0 };
}

function shortestReplacement(size: number, from: number, to: number): Replacement {
  if (from === 0) return { count: size + 1, kept: size };
  return from <= to ? { count: 0, kept: size } : { count: Math.ceil(size / from), kept: 0 };
}

const splitting: Rule = ({ target, args }) => ({
  cost: traversed(target, 2),
  size: { min: 0, max: args.length > 1 ? intOf(args[1], sizeOf(target).max) : sizeOf(target).max },
});

const joining: Rule = ({ target, args }) => {
  const count = sizeOf(target);
  const texts = times(count, target?.elementSize() ?? unknownSize);
  const gaps = { min: Math.max(0, count.min - 1), max: Math.max(0, count.max - 1) };
  const size = args[0] ? plus(texts, times(sizeOf(args[0]), gaps)) : texts;
  return { cost: scaled(size, textFactor), size };
};

const comparedInOne: ReadonlySet<string> = new Set([
  'net.IP',
  'net.CIDR',
  'kubernetes.Quantity',
  'kubernetes.Semver',
  'kubernetes.authorization.Authorizer',
  'kubernetes.authorization.PathCheck',
  'kubernetes.authorization.GroupCheck',
  'kubernetes.authorization.ResourceCheck',
  'kubernetes.authorization.Decision',
]);

const equality: Rule = ({ args: [left, right] }) => {
  const type = left && formatType(left.type);
  if (!left || !right || type !== formatType(right.type)) return undefined;
  if (comparedInOne.has(type ?? '')) return { cost: one };
  if (type === 'kubernetes.NamedFormat') return { cost: scaled({ min: 1, max: 64 }, textFactor) };
  if (type !== 'kubernetes.URL') return undefined;
  return { cost: scaled({ min: 1, max: right.size?.max ?? 1 }, textFactor) };
};

const table: Readonly<Record<string, readonly string[]>> = {
  nominal:
    'serviceAccount path group resource subresource namespace name allowed reason error errored masked prefixLength family isUnspecified isLoopback isLinkLocalMulticast isLinkLocalUnicast isGlobalUnicast format.named sign asInteger isInteger asApproximateFloat isGreaterThan isLessThan compareTo add sub major minor patch getScheme getHostname getHost getPort getEscapedPath getQuery'.split(
      ' ',
    ),
  parsing: 'cidr isIP isCIDR quantity isQuantity semver isSemver'.split(' '),
  eachElement: 'isSorted sum max min indexOf lastIndexOf'.split(' '),
  keepingSize: 'lowerAscii upperAscii substring trim'.split(' '),
};
const rules: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ...(table.nominal ?? []).map((name) => [name, nominal] as const),
  ...(table.parsing ?? []).map((name) => [name, parsing] as const),
  ...(table.eachElement ?? []).map((name) => [name, eachElement] as const),
  ...(table.keepingSize ?? []).map((name) => [name, keepingSize] as const),
  ['check', () => ({ cost: fixed(350_000) })],
  ['fieldSelector', selectorCost],
  ['labelSelector', selectorCost],
  ['url', ({ args }) => ({ cost: traversed(args[0]), size: sizeOf(args[0]) })],
  ['jsonpatch.escapeKey', ({ args }) => ({ cost: traversed(args[0]), size: sizeOf(args[0]) })],
  ['replace', replacing],
  ['split', splitting],
  ['join', joining],
  ['find', searching],
  ['findAll', searching],
  ['ip', ({ args, overload }) => ({ cost: overload === 'cidr_ip' ? one : traversed(args[0]) })],
  ['ip.isCanonical', ({ args }) => ({ cost: traversed(args[0], 2) })],
  ['containsIP', containsAddress],
  ['containsCIDR', containsNetwork],
  ['validate', ({ args }) => ({ cost: scaled(traversed(args[0]), nameFormatRegexSize * regexFactor) })],
  ['_==_', equality],
]);

/** What functions of Kubernetes cost; undefined: as the language says. Source: k8s.io/apiserver/pkg/cel/library/cost.go. */
export const kubernetesCost = (name: string, operands: CallOperands): CallCost | undefined =>
  rules.get(name)?.(operands);

function makingList(factor: number, size: Range): CallCost {
  return { cost: plus(plus(scaled(size, factor), one), fixed(listBase)), size };
}

/** What the functions on lists and sets cost that are extensions of the language. Source: cel-go ext/lists.go and ext/sets.go. */
export function extensionCost({ overload, target, args }: CallOperands): CallCost | undefined {
  const squared = (operand: Operand | undefined) => times(sizeOf(operand), sizeOf(operand));
  const [, elements, sort] = /^list_(\w+?)_(sort|sortByAssociatedKeys)$/.exec(overload) ?? [];
  if (sort !== undefined) {
    const factor = elements === 'string' || elements === 'bytes' ? 2 + textFactor : 2;
    return makingList(factor, squared(sort === 'sort' ? target : args[0]));
  }
  switch (overload) {
    case 'list_slice':
      return makingList(1, fixed(intOf(args[1], sizeOf(target).max) - intOf(args[0], 0)));
    case 'list_flatten':
      return makingList(1, sizeOf(target));
    case 'list_flatten_int':
      return makingList(intOf(args[0], unknownSize.max), sizeOf(target));
    case 'lists_range':
      return makingList(1, fixed(intOf(args[0], unknownSize.max)));
    case 'list_reverse':
      return makingList(1, sizeOf(target));
    case 'list_distinct':
      return makingList(2, squared(target));
    case 'list_sets_contains_list':
    case 'list_sets_intersects_list':
      return { cost: plus(times(sizeOf(args[0]), sizeOf(args[1])), one) };
    case 'list_sets_equivalent_list':
      return { cost: plus(scaled(times(sizeOf(args[0]), sizeOf(args[1])), 2), one) };
    default:
      return undefined;
  }
}

/** What the language's own functions cost. Source: cel-go checker/cost.go (functionCost). */
export function languageCost({ overload, target, args }: CallOperands): CallCost {
  switch (overload) {
    case 'string_format':
      return { cost: traversed(target) };
    case 'string_to_bytes':
      return { cost: traversed(args[0]), size: { min: sizeOf(args[0]).min, max: sizeOf(args[0]).max * 4 } };
    case 'bytes_to_string':
      return {
        cost: traversed(args[0]),
        size: { min: Math.floor(sizeOf(args[0]).min / 4), max: sizeOf(args[0]).max },
      };
    case 'strings_quote': {
      const { min, max } = sizeOf(args[0]);
      return { cost: traversed(args[0]), size: { min: min + 2, max: max * 2 + 2 } };
    }
    case 'starts_with_string':
    case 'ends_with_string':
      return { cost: traversed(args[0]) };
    case 'in_list':
      return { cost: sizeOf(args[1]) };
    case 'matches_string': {
      const text = scaled(plus(sizeOf(target), one), textFactor);
      return { cost: times(text, scaled(sizeOf(args[0]), regexFactor)) };
    }
    case 'contains_string':
      return { cost: times(traversed(target), traversed(args[0])) };
    case 'add_string':
    case 'add_bytes': {
      const size = plus(sizeOf(args[0]), sizeOf(args[1]));
      return { cost: scaled(size, textFactor), size };
    }
    case 'add_list':
      return { cost: one, size: plus(sizeOf(args[0]), sizeOf(args[1])) };
    default:
      return isComparison(overload) ? { cost: comparison(sizeOf(args[0]), sizeOf(args[1])) } : { cost: one };
  }
}

const isComparison = (overload: string): boolean =>
  overload === 'equals' ||
  overload === 'not_equals' ||
  /^(less|greater)(_equals)?_(string|bytes)$/.test(overload);

/** To the end of the shorter one. */
function comparison(left: Range, right: Range): Range {
  const max = Math.min(left.max, right.max);
  return scaled({ min: max > 0 ? 1 : 0, max }, textFactor);
}
