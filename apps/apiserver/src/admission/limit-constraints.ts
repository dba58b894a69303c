import type { LimitRangeItem } from '@tinkernetes/api';
import { quantitiesOf, type Quantity, type ResourceQuantities } from '@tinkernetes/apimachinery';

export interface Asked {
  readonly requests: ResourceQuantities;
  readonly limits: ResourceQuantities;
}

/** Messages for all bounds that are not kept. Source: k8s.io/kubernetes/plugin/pkg/admission/limitranger. */
export function limitErrors(item: LimitRangeItem, asked: Asked): string[] {
  return [
    ...each(item.min, (name, bound) => belowMinimum(item.type, name, { bound, asked })),
    ...each(item.max, (name, bound) => aboveMaximum(item.type, name, { bound, asked })),
    ...each(item.maxLimitRequestRatio, (name, bound) => aboveRatio(item.type, name, { bound, asked })),
  ];
}

/** As `limitErrors`, for what has no limits. */
export function requestErrors(item: LimitRangeItem, requests: ResourceQuantities): string[] {
  const usage = (name: string, bound: Quantity, word: string) =>
    `${word} ${name} usage per ${item.type} is ${bound.toString()}`;
  return [
    ...each(item.min, (name, bound) => {
      const request = requests.get(name);
      if (!request) return `${usage(name, bound, 'minimum')}.  No request is specified`;
      return request.compare(bound) < 0
        ? `${usage(name, bound, 'minimum')}, but request is ${request.toString()}`
        : undefined;
    }),
    ...each(item.max, (name, bound) => {
      const request = requests.get(name);
      if (!request) return `${usage(name, bound, 'maximum')}.  No request is specified`;
      return request.compare(bound) > 0
        ? `${usage(name, bound, 'maximum')}, but request is ${request.toString()}`
        : undefined;
    }),
  ];
}

interface Bound {
  readonly bound: Quantity;
  readonly asked: Asked;
}

function each(
  bounds: Readonly<Record<string, string | number>> | undefined,
  check: (name: string, bound: Quantity) => string | undefined,
): string[] {
  return [...quantitiesOf(bounds)]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([name, bound]) => check(name, bound) ?? []);
}

function belowMinimum(type: string, name: string, { bound, asked }: Bound): string | undefined {
  const usage = `minimum ${name} usage per ${type} is ${bound.toString()}`;
  const request = asked.requests.get(name);
  const limit = asked.limits.get(name);
  if (!request) return `${usage}.  No request is specified`;
  if (request.compare(bound) < 0) return `${usage}, but request is ${request.toString()}`;
  if (limit && limit.compare(bound) < 0) return `${usage}, but limit is ${limit.toString()}`;
  return undefined;
}

function aboveMaximum(type: string, name: string, { bound, asked }: Bound): string | undefined {
  const usage = `maximum ${name} usage per ${type} is ${bound.toString()}`;
  const request = asked.requests.get(name);
  const limit = asked.limits.get(name);
  if (!limit) return `${usage}.  No limit is specified`;
  if (limit.compare(bound) > 0) return `${usage}, but limit is ${limit.toString()}`;
  if (request && request.compare(bound) > 0) return `${usage}, but request is ${request.toString()}`;
  return undefined;
}

function aboveRatio(type: string, name: string, { bound, asked }: Bound): string | undefined {
  const ratio = `${name} max limit to request ratio per ${type} is ${bound.toString()}`;
  const request = asked.requests.get(name);
  const limit = asked.limits.get(name);
  if (!request || request.isZero) return `${ratio}, but no request is specified or request is 0`;
  if (!limit || limit.isZero) return `${ratio}, but no limit is specified or limit is 0`;
  const observed = limit.toNumber() / request.toNumber();
  return observed > bound.toNumber() ? `${ratio}, but provided ratio is ${observed.toFixed(6)}` : undefined;
}
