import type { Taint, Toleration } from '@tinkernetes/api';
import { isInt64 } from '../selectors/requirement';

type TaintEffect = Taint['effect'];

/** Source: k8s.io/api/core/v1.Toleration.ToleratesTaint; `Gt`/`Lt` by KEP-5471. */
export function tolerates(toleration: Toleration, taint: Taint): boolean {
  if (toleration.effect && toleration.effect !== taint.effect) return false;
  if (toleration.key && toleration.key !== taint.key) return false;
  const [own, its] = [toleration.value ?? '', taint.value ?? ''];
  switch (toleration.operator ?? 'Equal') {
    case 'Exists':
      return true;
    case 'Equal':
      return own === its && !!toleration.key;
    case 'Gt':
      return isInt64(own) && isInt64(its) && BigInt(its) > BigInt(own);
    case 'Lt':
      return isInt64(own) && isInt64(its) && BigInt(its) < BigInt(own);
  }
}

export const isTolerated = (taint: Taint, tolerations: readonly Toleration[] | undefined): boolean =>
  (tolerations ?? []).some((toleration) => tolerates(toleration, taint));

/** The first taint with one of the effects that nothing tolerates. */
export function findUntoleratedTaint(
  taints: readonly Taint[] | undefined,
  tolerations: readonly Toleration[] | undefined,
  effects: readonly TaintEffect[] = ['NoSchedule', 'NoExecute'],
): Taint | undefined {
  return (taints ?? []).find((taint) => effects.includes(taint.effect) && !isTolerated(taint, tolerations));
}
