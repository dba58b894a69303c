import type { Ingress } from '@tinkernetes/api';

const maxShown = 3;

/** The hosts of the rules; `*` for rules without one. */
export function ingressHosts({ spec }: Ingress): string {
  const hosts = (spec?.rules ?? []).map((rule) => rule.host ?? '').filter((host) => host !== '');
  const shown = [...new Set(hosts)];
  if (shown.length === 0) return '*';
  const text = shown.slice(0, maxShown).join(',');
  return shown.length > maxShown ? `${text} + ${shown.length - maxShown} more...` : text;
}

export const ingressPoints = ({ status }: Ingress): string =>
  (status?.loadBalancer?.ingress ?? []).map((point) => point.ip ?? point.hostname ?? '').join(',');
