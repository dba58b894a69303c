/** What the conditions of all kinds have in common. */
export interface ConditionLike {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  lastTransitionTime?: string;
  observedGeneration?: number;
}

export const findCondition = <C extends ConditionLike>(
  conditions: readonly C[] | undefined,
  type: string,
): C | undefined => conditions?.find((condition) => condition.type === type);

export const isConditionTrue = (conditions: readonly ConditionLike[] | undefined, type: string): boolean =>
  findCondition(conditions, type)?.status === 'True';

/**
 * The list with the condition put in: `lastTransitionTime` stays while the status stays, else it becomes the given
 * one. The same list when nothing changed. Source: k8s.io/apimachinery/pkg/api/meta.SetStatusCondition.
 */
export function setCondition<C extends ConditionLike>(conditions: readonly C[] | undefined, next: C): C[] {
  const list = conditions ?? [];
  const position = list.findIndex((condition) => condition.type === next.type);
  const current = list[position];
  if (!current) return [...list, next];
  const kept = current.status === next.status ? current.lastTransitionTime : next.lastTransitionTime;
  const merged: C = { ...current, ...next, lastTransitionTime: kept };
  const isSame = (Object.keys(merged) as Array<keyof C>).every((key) => merged[key] === current[key]);
  if (isSame) return list as C[];
  return list.map((condition, i) => (i === position ? merged : condition));
}
