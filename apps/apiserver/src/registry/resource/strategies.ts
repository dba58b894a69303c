import { DeviceClasses, ResourceClaims, ResourceClaimTemplates, ResourceSlices } from '@tinkernetes/api';
import type { DeviceClaim } from '@tinkernetes/api';
import { child, duplicate, isDns1123Label, required } from '@tinkernetes/apimachinery';
import { age } from '../../printers/cells';
import { defineStrategy } from '../define-strategy';
import { fill, mapList, mapMember } from '../fill';
import { immutable } from '../immutable';
import { eachOf, oneOf, requireName, requireValue } from '../rules';
import type { Errors } from '../rules';

/** Requests are for one device unless they say otherwise. */
const withAmount = <R extends { allocationMode?: string; count?: number }>(request: R): R => {
  const withMode = request.allocationMode ? request : { ...request, allocationMode: 'ExactCount' };
  return withMode.allocationMode === 'ExactCount' && !withMode.count ? { ...withMode, count: 1 } : withMode;
};

const defaultDevices = (devices: DeviceClaim): DeviceClaim =>
  mapMember(devices, 'requests', (requests) =>
    mapList(requests, (request) =>
      mapMember(mapMember(request, 'exactly', withAmount), 'firstAvailable', (alternatives) =>
        mapList(alternatives, withAmount),
      ),
    ),
  );

function validateDevices(devices: DeviceClaim | undefined, path: string): Errors {
  const names = new Set<string>();
  return eachOf(child(path, 'requests'), devices?.requests, (request, at) => {
    const isDuplicate = names.has(request.name);
    names.add(request.name);
    const errors = requireName(child(at, 'name'), request.name, isDns1123Label);
    if (isDuplicate) errors.push(duplicate(child(at, 'name'), request.name));
    if (!request.exactly && !request.firstAvailable?.length) {
      errors.push(required(at, 'exactly one of `exactly` or `firstAvailable` is required'));
    }
    if (request.exactly) {
      errors.push(
        ...requireValue(child(at, 'exactly', 'deviceClassName'), request.exactly.deviceClassName),
        ...oneOf(child(at, 'exactly', 'allocationMode'), request.exactly.allocationMode, [
          'All',
          'ExactCount',
        ]),
      );
    }
    return errors;
  });
}

export const deviceClassStrategy = defineStrategy(DeviceClasses, {
  hasGeneration: true,
  tableCells: (object, now) => [object.metadata.name, age(object, now)],
});

export const resourceClaimStrategy = defineStrategy(ResourceClaims, {
  hasGeneration: false,
  default: (claim) => mapMember(claim, 'spec', (spec) => mapMember(spec, 'devices', defaultDevices)),
  validate: (claim) => validateDevices(claim.spec?.devices, 'spec.devices'),
  validateUpdate: (claim, old) => immutable('spec', claim.spec, old.spec),
  tableCells: (claim, now) => {
    const { status, metadata } = claim;
    const states = [
      ...(metadata.deletionTimestamp ? ['deleted'] : []),
      ...(status?.allocation ? ['allocated'] : []),
      ...(status?.reservedFor?.length ? ['reserved'] : []),
    ];
    return [metadata.name, states.length > 0 ? states.join(',') : 'pending', age(claim, now)];
  },
});

export const resourceClaimTemplateStrategy = defineStrategy(ResourceClaimTemplates, {
  default: (template) =>
    mapMember(template, 'spec', (spec) =>
      fill(
        mapMember(spec, 'spec', (inner) => mapMember(inner, 'devices', defaultDevices)),
        { metadata: {} as never },
      ),
    ),
  validate: (template) => validateDevices(template.spec?.spec?.devices, 'spec.spec.devices'),
  validateUpdate: (template, old) => immutable('spec', template.spec, old.spec),
  tableCells: (object, now) => [object.metadata.name, age(object, now)],
});

export const resourceSliceStrategy = defineStrategy(ResourceSlices, {
  hasGeneration: true,
  validate: ({ spec }) => [
    ...requireValue('spec.driver', spec?.driver),
    ...requireValue('spec.pool.name', spec?.pool?.name),
  ],
  validateUpdate: ({ spec }, old) => [
    ...immutable('spec.nodeName', spec?.nodeName, old.spec?.nodeName),
    ...immutable('spec.driver', spec?.driver, old.spec?.driver),
    ...immutable('spec.pool.name', spec?.pool?.name, old.spec?.pool?.name),
  ],
  selectableFieldNames: ['spec.nodeName', 'spec.driver'],
  selectableFields: ({ spec }) => ({
    'spec.nodeName': spec?.nodeName ?? '',
    'spec.driver': spec?.driver ?? '',
  }),
  tableCells: (slice, now) => [
    slice.metadata.name,
    slice.spec?.nodeName ?? '<unset>',
    slice.spec?.driver ?? '',
    slice.spec?.pool?.name ?? '',
    age(slice, now),
  ],
});
