import type { IntOrString } from '@tinkernetes/api';

/** The number before a `%`; throws with upstream's text for other strings. */
export function percentOf(value: string): number {
  if (!value.endsWith('%'))
    throw new Error(`invalid value for IntOrString: invalid type: string is not a percentage`);
  const digits = value.slice(0, -1);
  if (!/^[-+]?[0-9]+$/.test(digits)) {
    throw new Error(
      `invalid value for IntOrString: invalid value "${value}": strconv.Atoi: parsing "${digits}": invalid syntax`,
    );
  }
  return Number(digits);
}

/**
 * The number itself, or the percentage of `total`, rounded up or down.
 * Source: k8s.io/apimachinery/pkg/util/intstr.GetScaledValueFromIntOrPercent.
 */
export function scaledValue(value: IntOrString, total: number, round: 'up' | 'down'): number {
  if (typeof value === 'number') return value;
  const exact = (percentOf(value) * total) / 100;
  return round === 'up' ? Math.ceil(exact) : Math.floor(exact);
}
