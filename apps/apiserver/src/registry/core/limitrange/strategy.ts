import { LimitRanges } from '@tinkernetes/api';
import type { LimitRangeItem } from '@tinkernetes/api';
import {
  child,
  duplicate,
  forbidden,
  invalid,
  isQualifiedName,
  mapKey,
  Quantity,
  required,
} from '@tinkernetes/apimachinery';
import { defineStrategy } from '../../define-strategy';
import { mapList, mapMember } from '../../fill';
import { roundUpToMilli } from '../../pod-spec/resource-defaults';
import { validateContainerResourceName, validateResourceName } from '../../pod-spec/resources';
import { check, eachOf } from '../../rules';
import type { Errors } from '../../rules';

const sorted = <V>(map: Record<string, V>): Record<string, V> =>
  Object.fromEntries(Object.entries(map).sort(([a], [b]) => (a < b ? -1 : 1)));
const standardTypes = ['Container', 'PersistentVolumeClaim', 'Pod'];
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

/** Source: core/validation.ValidateLimitRange. */
function validateType(item: LimitRangeItem, path: string): Errors {
  const type: string = item.type ?? '';
  const errors = check(child(path, 'type'), type, isQualifiedName);
  if (errors.length === 0 && !type.includes('/') && !standardTypes.includes(type)) {
    const detail = 'must be a standard limit type or fully qualified';
    errors.push(invalid(child(path, 'type'), type, detail));
  }
  if (type === 'Pod') {
    for (const list of ['default', 'defaultRequest'] as const)
      if (Object.keys(item[list] ?? {}).length > 0)
        errors.push(forbidden(child(path, list), "may not be specified when `type` is 'Pod'"));
  }
  if (
    type === 'PersistentVolumeClaim' &&
    item.min?.storage === undefined &&
    item.max?.storage === undefined
  ) {
    const detail = 'either minimum or maximum storage value is required, but neither was provided';
    errors.push(required(child(path, 'limits'), detail));
  }
  return errors;
}

function validateRatio(item: LimitRangeItem, name: string, path: string): Errors {
  const ratio = Quantity.tryParse(item.maxLimitRequestRatio?.[name]);
  if (!ratio) return [];
  const at = mapKey(child(path, 'maxLimitRequestRatio'), name);
  const errors: Errors = [];
  if (ratio.milliValue() < 1000)
    errors.push(invalid(at, ratio.toString(), `ratio ${ratio.toString()} is less than 1`));
  const [min, max] = [item.min, item.max].map((list) => Quantity.tryParse(list?.[name]));
  if (!min || !max) return errors;
  const most = max.milliValue() / min.milliValue();
  if (ratio.milliValue() / 1000 > most) {
    const detail = `ratio ${ratio.toString()} is greater than max/min = ${most.toFixed(6)}`;
    errors.push(invalid(at, ratio.toString(), detail));
  }
  return errors;
}

function validateItem(item: LimitRangeItem, path: string): Errors {
  const names = new Set(lists.flatMap((list) => Object.keys(item[list] ?? {})));
  return [...names].flatMap((name) => {
    const value = (list: (typeof lists)[number]) => Quantity.tryParse(item[list]?.[name]);
    const [min, max] = [value('min'), value('max')];
    const [limit, request] = [value('default'), value('defaultRequest')];
    const nameRule = ['Container', 'Pod'].includes(item.type)
      ? validateContainerResourceName
      : validateResourceName;
    const errors = lists.flatMap((list) =>
      item[list]?.[name] === undefined ? [] : nameRule(mapKey(child(path, list), name), name),
    );
    // Each pair: what must not be above what, and the list and value that are blamed.
    const pairs = [
      { list: 'min', small: ['min', min], big: ['max', max], blamed: min },
      { list: 'defaultRequest', small: ['min', min], big: ['default request', request], blamed: request },
      { list: 'defaultRequest', small: ['default request', request], big: ['max', max], blamed: request },
      {
        list: 'defaultRequest',
        small: ['default request', request],
        big: ['default limit', limit],
        blamed: request,
      },
      { list: 'default', small: ['min', min], big: ['default', limit], blamed: min },
      { list: 'default', small: ['default', limit], big: ['max', max], blamed: max },
    ] as const;
    for (const { list, small, big, blamed } of pairs) {
      const [[what, low], [than, high]] = [small, big];
      if (!low || !high || low.compare(high) <= 0) continue;
      const detail = `${what} value ${low.toString()} is greater than ${than} value ${high.toString()}`;
      errors.push(invalid(mapKey(child(path, list), name), blamed?.toString(), detail));
    }
    errors.push(...validateRatio(item, name, path));
    return errors;
  });
}

/** Source: k8s.io/kubernetes/pkg/registry/core/limitrange. */
export const limitRangeStrategy = defineStrategy(LimitRanges, {
  allowCreateOnUpdate: true,
  default: (range) =>
    mapMember(range, 'spec', (spec) => mapMember(spec, 'limits', (limits) => mapList(limits, defaultItem))),
  validate: (range) => {
    const types = new Set<string>();
    return eachOf('spec.limits', range.spec?.limits, (item, at) => {
      const isDuplicate = types.has(item.type);
      types.add(item.type);
      return [
        ...validateType(item, at),
        ...(isDuplicate ? [duplicate(child(at, 'type'), item.type)] : []),
        ...validateItem(item, at),
      ];
    });
  },
});
