import type { ServiceSpec } from '@tinkernetes/api';
import { duplicate, familyOf, index, invalid, isValidIp, required } from '@tinkernetes/apimachinery';
import { check, eachOf, oneOf } from '../../rules';
import type { Errors } from '../../rules';
import { isHeadless } from './prepare';

const path = 'spec.clusterIPs';

/** Source: core/validation.ValidateServiceClusterIPsRelatedFields. */
export function validateClusterIps(spec: ServiceSpec): Errors {
  if (spec.type === 'ExternalName') return [];
  const list = spec.clusterIPs ?? [];
  const errors = [
    ...validateFirst(spec, list),
    ...eachOf('spec.ipFamilies', spec.ipFamilies, (family, at, i) => [
      ...oneOf(at, family, ['IPv4', 'IPv6']),
      ...((spec.ipFamilies?.indexOf(family) ?? i) < i ? [duplicate(at, family)] : []),
    ]),
    ...oneOf('spec.ipFamilyPolicy', spec.ipFamilyPolicy, [
      'PreferDualStack',
      'RequireDualStack',
      'SingleStack',
    ]),
  ];
  const wrong = validateAddresses(list);
  errors.push(...wrong);
  if (list.length > 2) errors.push(invalid(path, list, 'may only hold up to 2 values'));
  if (wrong.length > 0) return errors;
  const families = list.map(familyOf);
  if (list.length > 1 && !(families.length === 2 && families[0] !== families[1]))
    errors.push(invalid(path, list, 'may specify no more than one IP for each IP family'));
  if (errors.length > 0 || isHeadless(spec)) return errors;
  return list.flatMap((address, i) => {
    const family = spec.ipFamilies?.[i];
    if (family === undefined || family === families[i]) return [];
    return [
      invalid(index(path, i), address, `expected an ${family} value as indicated by \`ipFamilies[${i}]\``),
    ];
  });
}

/** The old singular field and the list that replaced it. */
function validateFirst({ clusterIP }: ServiceSpec, list: readonly string[]): Errors {
  if (list.length === 0) return clusterIP ? [required(path)] : [];
  if (!clusterIP) return [invalid(path, list, 'must be empty when `clusterIP` is not specified')];
  return list[0] === clusterIP ? [] : [invalid(path, list, 'first value must match `clusterIP`')];
}

const validateAddresses = (list: readonly string[]): Errors =>
  list.flatMap((address, i) => {
    if (i > 0 || address !== 'None') return check(index(path, i), address, isValidIp);
    return list.length > 1 ? [invalid(path, list, "'None' must be the first and only value")] : [];
  });
