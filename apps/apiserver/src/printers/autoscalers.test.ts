import { autoscalerTargets } from './autoscalers';

type Metrics = NonNullable<NonNullable<Parameters<typeof autoscalerTargets>[0]['spec']>['metrics']>;

const cpu = (target: object) => ({ type: 'Resource', resource: { name: 'cpu', target } });

describe('autoscalerTargets', () => {
  it.each([
    [[], undefined, '<none>'],
    [[cpu({ averageUtilization: 60 })], undefined, 'cpu: <unknown>/60%'],
    [
      [cpu({ averageUtilization: 60 })],
      [{ type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 40 } } }],
      'cpu: 40%/60%',
    ],
    [[cpu({ averageValue: '100m' })], undefined, 'cpu: <unknown>/100m'],
    [[{ type: 'Pods', pods: { target: { averageValue: '10' } } }], undefined, '<unknown>/10'],
    [[{ type: 'External', external: { target: { averageValue: '3' } } }], undefined, '<unknown>/3 (avg)'],
    [
      [{ type: 'Object', object: { target: { value: '3' } } }],
      [{ type: 'Object', object: { current: { value: '2' } } }],
      '2/3',
    ],
    [
      [cpu({}), cpu({ averageUtilization: 1 }), cpu({}), cpu({})],
      undefined,
      'cpu: <unknown>/<auto>, cpu: <unknown>/1% + 2 more...',
    ],
  ])('%j measured %j: %s', (metrics, currentMetrics, text) => {
    const spec = { maxReplicas: 1, scaleTargetRef: { kind: 'D', name: 'd' }, metrics: metrics as Metrics };
    expect(autoscalerTargets({ spec, status: { currentMetrics } as never })).toBe(text);
  });
});
