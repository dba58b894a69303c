import type { HorizontalPodAutoscalerBehavior, HPAScalingRules } from '@tinkernetes/api';
import { normalize, type NormalizeOptions } from './normalize';
import { ScalingHistory } from './scaling-history';

const second = 1000;
const start = 1_000_000_000;

const normalizeWith = (options: Partial<NormalizeOptions>) =>
  normalize({
    currentReplicas: 5,
    desiredReplicas: 5,
    minReplicas: 1,
    maxReplicas: 100,
    history: new ScalingHistory(),
    now: start,
    behavior: undefined,
    downscaleStabilizationMs: 300 * second,
    ...options,
  });

describe('normalize without behavior', () => {
  it.each<[Partial<NormalizeOptions>, number, string, 'True' | 'False']>([
    [{ desiredReplicas: 7 }, 7, 'DesiredWithinRange', 'False'],
    [{ desiredReplicas: 11 }, 10, 'ScaleUpLimit', 'True'],
    [{ desiredReplicas: 9, maxReplicas: 8 }, 8, 'TooManyReplicas', 'True'],
    [{ desiredReplicas: 4, currentReplicas: 1 }, 4, 'DesiredWithinRange', 'False'],
    [{ desiredReplicas: 5, currentReplicas: 1 }, 4, 'ScaleUpLimit', 'True'],
    [{ desiredReplicas: 1, minReplicas: 2 }, 2, 'TooFewReplicas', 'True'],
  ])('%j → %i, ScalingLimited %s', (options, replicas, reason, status) => {
    expect(normalizeWith(options)).toMatchObject({ replicas, limited: { reason, status } });
  });

  it('holds the highest recommendation of the window', () => {
    const history = new ScalingHistory();
    history.begin(5, start);
    const at = (seconds: number, desiredReplicas: number) =>
      normalizeWith({ history, now: start + seconds * second, desiredReplicas });
    expect(at(10, 2)).toMatchObject({ replicas: 5, able: { reason: 'ScaleDownStabilized' } });
    expect(at(200, 4)).toMatchObject({ replicas: 5 });
    expect(at(301, 2)).toMatchObject({ replicas: 4 });
    expect(at(502, 2)).toMatchObject({ replicas: 2, able: { reason: 'ReadyForNewScale' } });
  });
});

const rules = (
  policies: [type: 'Pods' | 'Percent', value: number, periodSeconds: number][],
  rest: Partial<HPAScalingRules> = {},
): HPAScalingRules => ({
  selectPolicy: 'Max',
  stabilizationWindowSeconds: 0,
  policies: policies.map(([type, value, periodSeconds]) => ({ type, value, periodSeconds })),
  ...rest,
});
const open = rules([['Percent', 1000, 60]]);

describe('normalize with behavior', () => {
  it.each<[string, HorizontalPodAutoscalerBehavior, Partial<NormalizeOptions>, number, string]>([
    [
      'adds the Pods of a policy',
      { scaleUp: rules([['Pods', 2, 60]]) },
      { desiredReplicas: 20 },
      7,
      'ScaleUpLimit',
    ],
    [
      'adds percents, rounded up',
      { scaleUp: rules([['Percent', 10, 60]]) },
      { desiredReplicas: 20 },
      6,
      'ScaleUpLimit',
    ],
    [
      'the policy that allows most decides',
      {
        scaleUp: rules([
          ['Pods', 2, 60],
          ['Percent', 100, 60],
        ]),
      },
      { desiredReplicas: 20 },
      10,
      'ScaleUpLimit',
    ],
    [
      'or least, with Min',
      {
        scaleUp: rules(
          [
            ['Pods', 2, 60],
            ['Percent', 100, 60],
          ],
          { selectPolicy: 'Min' },
        ),
      },
      { desiredReplicas: 20 },
      7,
      'ScaleUpLimit',
    ],
    [
      'Disabled adds none',
      { scaleUp: rules([['Pods', 2, 60]], { selectPolicy: 'Disabled' }) },
      { desiredReplicas: 20 },
      5,
      'ScaleUpLimit',
    ],
    ['the maximum holds', { scaleUp: open }, { desiredReplicas: 20, maxReplicas: 8 }, 8, 'TooManyReplicas'],
    [
      'removes the Pods of a policy',
      { scaleDown: rules([['Pods', 1, 60]]) },
      { desiredReplicas: 1 },
      4,
      'ScaleDownLimit',
    ],
    [
      'removes percents, rounded for more to go',
      { scaleDown: rules([['Percent', 50, 60]]) },
      { desiredReplicas: 1 },
      2,
      'ScaleDownLimit',
    ],
    [
      'the minimum holds',
      { scaleDown: rules([['Percent', 100, 60]]) },
      { desiredReplicas: 1, minReplicas: 3 },
      3,
      'TooFewReplicas',
    ],
    [
      'Disabled removes none',
      { scaleDown: rules([], { selectPolicy: 'Disabled' }) },
      { desiredReplicas: 1 },
      5,
      'ScaleDownLimit',
    ],
    [
      'within all limits',
      { scaleUp: open, scaleDown: open },
      { desiredReplicas: 6 },
      6,
      'DesiredWithinRange',
    ],
  ])('%s', (_rule, behavior, options, replicas, reason) => {
    expect(normalizeWith({ behavior, ...options })).toMatchObject({ replicas, limited: { reason } });
  });

  it('counts what was added within the period', () => {
    const scaleUp = rules([['Pods', 4, 60]]);
    const history = new ScalingHistory();
    history.scaled(5, 8, { now: start, rules: scaleUp });
    const at = (seconds: number) =>
      normalizeWith({
        behavior: { scaleUp },
        history,
        now: start + seconds * second,
        currentReplicas: 8,
        desiredReplicas: 20,
      }).replicas;
    expect([at(59), at(61)]).toEqual([9, 12]);
  });

  it('counts what was removed within the period, too', () => {
    const scaleUp = rules([['Pods', 4, 60]]);
    const scaleDown = rules([['Pods', 10, 60]]);
    const history = new ScalingHistory();
    history.scaled(8, 5, { now: start, rules: scaleDown });
    expect(
      normalizeWith({ behavior: { scaleUp, scaleDown }, history, now: start + second, desiredReplicas: 20 })
        .replicas,
    ).toBe(12);
  });

  it('applies the lowest recommendation of the scale-up window', () => {
    const history = new ScalingHistory();
    const behavior = {
      scaleUp: rules([['Percent', 1000, 60]], { stabilizationWindowSeconds: 60 }),
      scaleDown: open,
    };
    const at = (seconds: number, desiredReplicas: number) =>
      normalizeWith({ history, behavior, now: start + seconds * second, desiredReplicas });
    expect(at(0, 6)).toMatchObject({ replicas: 6 });
    expect(at(30, 9)).toMatchObject({ replicas: 6, able: { reason: 'ScaleUpStabilized' } });
    expect(at(70, 9)).toMatchObject({ replicas: 9, able: { reason: 'ReadyForNewScale' } });
  });

  it('takes the flag as the scale-down window where the behavior names none', () => {
    const history = new ScalingHistory();
    const behavior = { scaleDown: { policies: open.policies, selectPolicy: 'Max' } };
    const at = (seconds: number, desiredReplicas: number) =>
      normalizeWith({ history, behavior, now: start + seconds * second, desiredReplicas }).replicas;
    expect([at(0, 5), at(299, 1), at(301, 1)]).toEqual([5, 5, 1]);
  });
});
