import type { HorizontalPodAutoscalerBehavior, HPAScalingRules } from '@tinkernetes/api';
import type { ScalingHistory } from './scaling-history';

export interface Verdict {
  reason: string;
  message: string;
}
export interface Normalized {
  replicas: number;
  /** Of condition AbleToScale. */
  able: Verdict;
  /** Of condition ScalingLimited. */
  limited: Verdict & { status: 'True' | 'False' };
}

export interface NormalizeOptions {
  currentReplicas: number;
  /** By the metrics. */
  desiredReplicas: number;
  minReplicas: number;
  maxReplicas: number;
  history: ScalingHistory;
  now: number;
  /** --horizontal-pod-autoscaler-downscale-stabilization */
  downscaleStabilizationMs: number;
  behavior: HorizontalPodAutoscalerBehavior | undefined;
}

const scaleUpFactor = 2;
const scaleUpMinimum = 4;

const withinRange: Verdict = {
  reason: 'DesiredWithinRange',
  message: 'the desired count is within the acceptable range',
};
const tooMany: Verdict = {
  reason: 'TooManyReplicas',
  message: 'the desired replica count is more than the maximum replica count',
};
const tooFew: Verdict = {
  reason: 'TooFewReplicas',
  message: 'the desired replica count is less than the minimum replica count',
};
const tooFast: Verdict = {
  reason: 'ScaleUpLimit',
  message: 'the desired replica count is increasing faster than the maximum scale rate',
};
const tooFastDown: Verdict = {
  reason: 'ScaleDownLimit',
  message: 'the desired replica count is decreasing faster than the maximum scale rate',
};
const ready: Verdict = { reason: 'ReadyForNewScale', message: 'recommended size matches current size' };
const upStabilized: Verdict = {
  reason: 'ScaleUpStabilized',
  message: 'recent recommendations were lower than current one, applying the lowest recent recommendation',
};
const downStabilized: Verdict = {
  reason: 'ScaleDownStabilized',
  message: 'recent recommendations were higher than current one, applying the highest recent recommendation',
};

/** What of a recommendation may be done now. Source: pkg/controller/podautoscaler/horizontal.go normalizeDesiredReplicas*. */
export function normalize(options: NormalizeOptions): Normalized {
  const stable = options.behavior ? stabilizeByRules(options, options.behavior) : stabilizeDown(options);
  const limited = options.behavior
    ? limitByRules(options, options.behavior, stable)
    : limitByDefault(options, stable);
  const { desiredReplicas, currentReplicas } = options;
  const held = options.behavior && desiredReplicas >= currentReplicas ? upStabilized : downStabilized;
  return {
    replicas: limited.replicas,
    able: stable === desiredReplicas ? ready : held,
    limited: { ...limited.verdict, status: limited.replicas === stable ? 'False' : 'True' },
  };
}

/** The highest recommendation of the window holds. */
function stabilizeDown({
  desiredReplicas,
  history,
  now,
  downscaleStabilizationMs: window,
}: NormalizeOptions): number {
  const recent = history.recommendedSince(now - window);
  history.recommend(desiredReplicas, now, window);
  return Math.max(desiredReplicas, ...recent);
}

/** No more than the lowest recommendation of one window, no less than the highest of the other. */
function stabilizeByRules(
  { desiredReplicas, currentReplicas, history, now, downscaleStabilizationMs }: NormalizeOptions,
  { scaleUp, scaleDown }: HorizontalPodAutoscalerBehavior,
): number {
  const upWindow = (scaleUp?.stabilizationWindowSeconds ?? 0) * 1000;
  const downSeconds = scaleDown?.stabilizationWindowSeconds;
  const downWindow = downSeconds === undefined ? downscaleStabilizationMs : downSeconds * 1000;
  const atLeast = Math.min(desiredReplicas, ...recentRecommendations(history, now, upWindow));
  const atMost = Math.max(desiredReplicas, ...recentRecommendations(history, now, downWindow));
  history.recommend(desiredReplicas, now, Math.max(upWindow, downWindow));
  return Math.min(Math.max(currentReplicas, atLeast), atMost);
}

/** A window of no length has nothing in it. */
const recentRecommendations = (history: ScalingHistory, now: number, windowMs: number): number[] =>
  windowMs === 0 ? [] : history.recommendedSince(now - windowMs);

interface Limited {
  replicas: number;
  verdict: Verdict;
}

function limitByDefault(
  { currentReplicas, minReplicas, maxReplicas }: NormalizeOptions,
  desired: number,
): Limited {
  const upLimit = Math.max(scaleUpFactor * currentReplicas, scaleUpMinimum);
  const most = Math.min(maxReplicas, upLimit);
  if (desired < minReplicas) return { replicas: minReplicas, verdict: tooFew };
  if (desired > most) return { replicas: most, verdict: maxReplicas > upLimit ? tooFast : tooMany };
  return { replicas: desired, verdict: withinRange };
}

function limitByRules(
  { currentReplicas, minReplicas, maxReplicas, history, now }: NormalizeOptions,
  { scaleUp, scaleDown }: HorizontalPodAutoscalerBehavior,
  desired: number,
): Limited {
  const at = { currentReplicas, history, now };
  if (desired > currentReplicas) {
    const limit = Math.max(currentReplicas, policyLimit('up', scaleUp, at));
    const most = Math.min(maxReplicas, limit);
    if (desired > most) return { replicas: most, verdict: maxReplicas > limit ? tooFast : tooMany };
  } else if (desired < currentReplicas) {
    const limit = Math.min(currentReplicas, policyLimit('down', scaleDown, at));
    const least = Math.max(minReplicas, limit);
    if (desired < least) return { replicas: least, verdict: minReplicas < limit ? tooFastDown : tooFew };
  }
  return { replicas: desired, verdict: withinRange };
}

interface Situation {
  currentReplicas: number;
  history: ScalingHistory;
  now: number;
}

/** What policies add and take away, and which of several limits allows most; `Min` takes the one that allows least. */
const scalings = {
  up: {
    byPercent: (start: number, percent: number) => Math.ceil(start * (1 + percent / 100)),
    byPods: (start: number, pods: number) => start + pods,
    widest: Math.max,
    narrowest: Math.min,
  },
  down: {
    byPercent: (start: number, percent: number) => Math.trunc(start * (1 - percent / 100)),
    byPods: (start: number, pods: number) => start - pods,
    widest: Math.min,
    narrowest: Math.max,
  },
};

/** The replicas that policies allow in a direction now. */
function policyLimit(
  direction: keyof typeof scalings,
  rules: HPAScalingRules | undefined,
  { currentReplicas, history, now }: Situation,
): number {
  if (rules?.selectPolicy === 'Disabled') return currentReplicas;
  const { byPercent, byPods, widest, narrowest } = scalings[direction];
  const limits = (rules?.policies ?? []).map(({ type, value, periodSeconds }) => {
    const start = history.replicasAtStartOf(periodSeconds, currentReplicas, now);
    return type === 'Percent' ? byPercent(start, value) : byPods(start, value);
  });
  return rules?.selectPolicy === 'Min' ? narrowest(...limits) : widest(...limits);
}
