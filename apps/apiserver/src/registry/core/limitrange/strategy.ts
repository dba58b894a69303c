import { LimitRanges } from '@tinkernetes/api';
import type { LimitRangeItem } from '@tinkernetes/api';
import { child, duplicate, invalid, isQualifiedName, mapKey, Quantity } from '@tinkernetes/apimachinery';
import { defineStrategy } from '../../define-strategy';
import { mapList, mapMember } from '../../fill';
import { roundUpToMilli } from '../../pod-spec/container-defaults';
import { check, eachOf } from '../../rules';
import type { Errors } from '../../rules';

const sorted = <V>(map: Record<string, V>): Record<string, V> =>
  Object.fromEntries(Object.entries(map).sort(([a], [b]) => (a < b ? -1 : 1)));
const lists = ['max', 'min', 'default', 'defaultRequest', 'maxLimitRequestRatio'] as const;

/** Source: pkg/apis/core/v1.SetDefaults_LimitRangeItem. */
function defaultItem(given: LimitRangeItem): LimitRangeItem {
  let item = given;
  for (const name of lists) item = mapMember(item, name, roundUpToMilli);
  if (item.type !== 'Container') return item;
  const limits = { ...item.max, ...item.default };
  const requests = { ...item.min, ...limits, ...item.defaultRequest };
  return {
    ...item,
    ...(Object.keys(limits).length > 0 ? { default: sorted(limits) } : {}),
    ...(Object.keys(requests).length > 0 ? { defaultRequest: sorted(requests) } : {}),
  };
}

function validateItem(item: LimitRangeItem, path: string): Errors {
  const names = new Set(lists.flatMap((list) => Object.keys(item[list] ?? {})));
  return [...names].flatMap((name) => {
    const value = (list: (typeof lists)[number]) => Quantity.tryParse(item[list]?.[name]);
    const [min, max] = [value('min'), value('max')];
    const [limit, request] = [value('default'), value('defaultRequest')];
    const errors = lists.flatMap((list) =>
      item[list]?.[name] === undefined ? [] : check(mapKey(child(path, list), name), name, isQualifiedName),
    );
    // Each pair: what must not be above what, and the list that is blamed.
    const pairs = [
      { list: 'min', small: ['min', min], big: ['max', max] },
      { list: 'defaultRequest', small: ['min', min], big: ['default request', request] },
      { list: 'defaultRequest', small: ['default request', request], big: ['max', max] },
      { list: 'defaultRequest', small: ['default request', request], big: ['default limit', limit] },
      { list: 'default', small: ['min', min], big: ['default', limit] },
      { list: 'default', small: ['default', limit], big: ['max', max] },
    ] as const;
    for (const { list, small, big } of pairs) {
      const [[what, low], [than, high]] = [small, big];
      if (!low || !high || low.compare(high) <= 0) continue;
      const detail = `${what} value ${low.toString()} is greater than ${than} value ${high.toString()}`;
      errors.push(invalid(mapKey(child(path, list), name), low.toString(), detail));
    }
    return errors;
  });
}

/** Source: k8s.io/kubernetes/pkg/registry/core/limitrange. */
export const limitRangeStrategy = defineStrategy(LimitRanges, {
  default: (range) =>
    mapMember(range, 'spec', (spec) => mapMember(spec, 'limits', (limits) => mapList(limits, defaultItem))),
  validate: (range) => {
    const types = new Set<string>();
    return eachOf('spec.limits', range.spec?.limits, (item, at) => {
      const isDuplicate = types.has(item.type);
      types.add(item.type);
      return [...(isDuplicate ? [duplicate(child(at, 'type'), item.type)] : []), ...validateItem(item, at)];
    });
  },
});
