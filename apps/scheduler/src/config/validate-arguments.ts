import {
  child,
  duplicate,
  forbidden,
  index,
  invalid,
  isQualifiedName,
  notSupported,
  required,
  type FieldError,
} from '@tinkernetes/apimachinery';

type Arguments = Readonly<Record<string, unknown>>;
type Check = (path: string, args: Arguments) => FieldError[];

interface ResourceSpec {
  name: string;
  weight?: number;
}
interface ShapePoint {
  utilization: number;
  score: number;
}
interface DefaultConstraint {
  maxSkew?: number;
  topologyKey?: string;
  whenUnsatisfiable?: string;
  labelSelector?: unknown;
}

const list = <T>(value: unknown): readonly T[] => (Array.isArray(value) ? (value as T[]) : []);
const within = (path: string, value: unknown, [low, high]: readonly [number, number]): FieldError[] =>
  typeof value === 'number' && (value < low || value > high)
    ? [invalid(path, value, `not in valid range [${low}, ${high}]`)]
    : [];
const labelName = (path: string, value: string): FieldError[] =>
  isQualifiedName(value).map((detail) => invalid(path, value, detail));

/** Checks of plugins' arguments, worded as upstream's. Source: apis/config/validation/validation_pluginargs.go. */
export const argumentChecks: Readonly<Record<string, Check>> = {
  DefaultPreemption(path, { minCandidateNodesPercentage, minCandidateNodesAbsolute }) {
    const percentage = child(path, 'minCandidateNodesPercentage');
    const absolute = child(path, 'minCandidateNodesAbsolute');
    const errors = within(percentage, minCandidateNodesPercentage, [0, 100]);
    if (typeof minCandidateNodesAbsolute === 'number' && minCandidateNodesAbsolute < 0)
      errors.push(invalid(absolute, minCandidateNodesAbsolute, 'not in valid range [0, inf)'));
    if (minCandidateNodesPercentage === 0 && minCandidateNodesAbsolute === 0)
      errors.push(
        invalid(percentage, 0, 'cannot be zero at the same time as minCandidateNodesAbsolute'),
        invalid(absolute, 0, 'cannot be zero at the same time as minCandidateNodesPercentage'),
      );
    return errors;
  },
  InterPodAffinity: (path, { hardPodAffinityWeight }) =>
    within(child(path, 'hardPodAffinityWeight'), hardPodAffinityWeight, [0, 100]),
  NodeResourcesBalancedAllocation(path, { resources }) {
    const seen = new Set<string>();
    return list<ResourceSpec>(resources).flatMap(({ name, weight = 1 }, i) => {
      const at = index(child(path, 'resources'), i);
      const errors = seen.has(name) ? [duplicate(child(at, 'name'), name)] : [];
      seen.add(name);
      return weight === 1 ? errors : [...errors, invalid(child(at, 'weight'), weight, 'must be 1')];
    });
  },
  NodeResourcesFit(path, { ignoredResources, ignoredResourceGroups, scoringStrategy }) {
    const groups = child(path, 'ignoredResourceGroups');
    return [
      ...list<string>(ignoredResources).flatMap((name, i) =>
        labelName(index(child(path, 'ignoredResources'), i), name),
      ),
      ...list<string>(ignoredResourceGroups).flatMap((group, i) => [
        ...(group.includes('/')
          ? [invalid(index(groups, i), group, "resource group name can't contain '/'")]
          : []),
        ...labelName(index(groups, i), group),
      ]),
      ...(scoringStrategy === undefined
        ? []
        : scoringStrategyErrors(child(path, 'scoringStrategy'), scoringStrategy as ScoringStrategy)),
    ];
  },
  PodTopologySpread(path, { defaultingType = 'System', defaultConstraints }) {
    const constraints = list<DefaultConstraint>(defaultConstraints);
    const type = child(path, 'defaultingType');
    const errors: FieldError[] = [];
    if (defaultingType !== 'System' && defaultingType !== 'List')
      errors.push(notSupported(type, defaultingType, ['System', 'List']));
    else if (defaultingType === 'System' && constraints.length > 0)
      errors.push(invalid(type, defaultingType, 'when .defaultConstraints are not empty'));
    const at = child(path, 'defaultConstraints');
    return [...errors, ...constraints.flatMap((_, i) => constraintErrors(at, constraints, i))];
  },
  VolumeBinding(path, { bindTimeoutSeconds, shape }) {
    const errors: FieldError[] = [];
    if (typeof bindTimeoutSeconds === 'number' && bindTimeoutSeconds < 0)
      errors.push(
        invalid(
          child(path, 'bindTimeoutSeconds'),
          bindTimeoutSeconds,
          'invalid BindTimeoutSeconds, should not be a negative value',
        ),
      );
    if (shape !== undefined) errors.push(...shapeErrors(child(path, 'shape'), list(shape)));
    return errors;
  },
};

interface ScoringStrategy {
  type?: string;
  resources?: unknown;
  requestedToCapacityRatio?: { shape?: unknown };
}
const strategies = ['LeastAllocated', 'MostAllocated', 'RequestedToCapacityRatio'];

function scoringStrategyErrors(
  path: string,
  { type = 'LeastAllocated', resources, requestedToCapacityRatio: ratio }: ScoringStrategy,
): FieldError[] {
  const errors = strategies.includes(type) ? [] : [notSupported(child(path, 'type'), type, strategies)];
  list<ResourceSpec>(resources).forEach(({ name, weight = 1 }, i) => {
    if (weight <= 0 || weight > 100)
      errors.push(
        invalid(
          child(index(child(path, 'resources'), i), 'weight'),
          weight,
          `resource weight of ${name} not in valid range (0, 100]`,
        ),
      );
  });
  const at = child(path, 'requestedToCapacityRatio');
  const isRatio = type === 'RequestedToCapacityRatio';
  if (!isRatio && ratio) errors.push(forbidden(at, 'must be nil when type is not RequestedToCapacityRatio'));
  if (isRatio && !ratio) errors.push(required(at, 'must be specified when type is RequestedToCapacityRatio'));
  if (isRatio && ratio) errors.push(...shapeErrors(child(at, 'shape'), list(ratio.shape)));
  return errors;
}

function shapeErrors(path: string, shape: readonly ShapePoint[]): FieldError[] {
  if (shape.length === 0) return [required(path, 'at least one point must be specified')];
  const unsorted = shape.findIndex(
    (point, i) => (shape[i - 1]?.utilization ?? -1) >= point.utilization && i > 0,
  );
  const errors =
    unsorted < 0
      ? []
      : [
          invalid(
            child(index(path, unsorted), 'utilization'),
            shape[unsorted]?.utilization,
            'values must be sorted in increasing order',
          ),
        ];
  return [
    ...errors,
    ...shape.flatMap(({ utilization, score }, i) => [
      ...within(child(index(path, i), 'utilization'), utilization, [0, 100]),
      ...within(child(index(path, i), 'score'), score, [0, 10]),
    ]),
  ];
}

const actions = ['DoNotSchedule', 'ScheduleAnyway'];

function constraintErrors(path: string, all: readonly DefaultConstraint[], i: number): FieldError[] {
  const { maxSkew = 0, topologyKey = '', whenUnsatisfiable = '', labelSelector } = all[i] ?? {};
  const at = index(path, i);
  const errors: FieldError[] = [];
  if (maxSkew <= 0) errors.push(invalid(child(at, 'maxSkew'), maxSkew, 'not in valid range (0, inf)'));
  if (topologyKey === '') errors.push(required(child(at, 'topologyKey'), 'can not be empty'));
  else errors.push(...labelName(child(at, 'topologyKey'), topologyKey));
  if (whenUnsatisfiable === '') errors.push(required(child(at, 'whenUnsatisfiable'), 'can not be empty'));
  else if (!actions.includes(whenUnsatisfiable))
    errors.push(notSupported(child(at, 'whenUnsatisfiable'), whenUnsatisfiable, actions));
  if (labelSelector)
    errors.push(
      forbidden(
        child(at, 'labelSelector'),
        'constraint must not define a selector, as they deduced for each pod',
      ),
    );
  const isRepeated = all
    .slice(0, i)
    .some((other) => other.topologyKey === topologyKey && other.whenUnsatisfiable === whenUnsatisfiable);
  if (isRepeated) errors.push(duplicate(at, `{${topologyKey}, ${whenUnsatisfiable}}`));
  return errors;
}
