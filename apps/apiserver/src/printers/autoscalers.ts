import type { HorizontalPodAutoscaler, Quantity } from '@tinkernetes/api';

type Metric = NonNullable<NonNullable<HorizontalPodAutoscaler['spec']>['metrics']>[number];
type Current = NonNullable<NonNullable<HorizontalPodAutoscaler['status']>['currentMetrics']>[number];

const maxShown = 2;
const unknown = '<unknown>';

/** `cpu: 12%/80%, 4/10`; `<unknown>` where nothing was measured yet. Source: printers/internalversion formatHPAMetrics. */
export function autoscalerTargets({
  spec,
  status,
}: Pick<HorizontalPodAutoscaler, 'spec' | 'status'>): string {
  const metrics = spec?.metrics ?? [];
  if (metrics.length === 0) return '<none>';
  const texts = metrics.map((metric, i) => targetOf(metric, status?.currentMetrics?.[i]));
  const shown = texts.slice(0, maxShown).join(', ');
  return texts.length > maxShown ? `${shown} + ${texts.length - maxShown} more...` : shown;
}

function targetOf(metric: Metric, current: Current | undefined): string {
  switch (metric.type) {
    case 'External':
      return valueTarget(metric.external?.target, current?.external?.current);
    case 'Object':
      return valueTarget(metric.object?.target, current?.object?.current);
    case 'Pods':
      return `${current?.pods?.current.averageValue ?? unknown}/${metric.pods?.target.averageValue ?? ''}`;
    case 'Resource':
      return resourceTarget(metric.resource, current?.resource?.current);
    case 'ContainerResource':
      return resourceTarget(metric.containerResource, current?.containerResource?.current);
    default:
      return '<unknown type>';
  }
}

interface Value {
  value?: Quantity;
  averageValue?: Quantity;
  averageUtilization?: number;
}

function valueTarget(target: Value | undefined, current: Value | undefined): string {
  if (target?.averageValue !== undefined)
    return `${current?.averageValue ?? unknown}/${target.averageValue} (avg)`;
  return `${current ? (current.value ?? '<nil>') : unknown}/${target?.value ?? ''}`;
}

function resourceTarget(
  metric: { name: string; target: Value } | undefined,
  current: Value | undefined,
): string {
  const { name = '', target = {} } = metric ?? {};
  if (target.averageValue !== undefined)
    return `${name}: ${current?.averageValue ?? unknown}/${target.averageValue}`;
  const percent = (share: number | undefined, none: string) => (share === undefined ? none : `${share}%`);
  return `${name}: ${percent(current?.averageUtilization, unknown)}/${percent(target.averageUtilization, '<auto>')}`;
}
