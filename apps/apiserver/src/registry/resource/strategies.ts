import { DeviceClasses, ResourceClaims, ResourceClaimTemplates, ResourceSlices } from '@tinkernetes/api';
import type { DeviceClaim, ObjectMeta, ResourceSlice, ResourceSliceSpec } from '@tinkernetes/api';
import {
  child,
  duplicate,
  forbidden,
  invalid,
  isDns1123Label,
  isDns1123Subdomain,
  mapKey,
  required,
  tooLong,
  validateAnnotations,
  validateLabels,
} from '@tinkernetes/apimachinery';
import { formatTime } from '@tinkernetes/component-base';
import type { StrategyContext } from '../../contracts';
import { age } from '../../printers/cells';
import { defineStrategy } from '../define-strategy';
import { fill, mapList, mapMember } from '../fill';
import { immutable } from '../immutable';
import { isExtendedResource } from '../pod-spec/resources';
import { validateNodeSelector } from '../pod-spec/scheduling';
import { validateCsiDriverName } from '../pod-spec/volume-sources';
import { check, eachOf } from '../rules';
import type { Errors } from '../rules';
import { qualified, validateDevices, validateOpaque, validateSelectors } from './validate-devices';

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

/** Source: resource/validation.ValidateDeviceClass. */
export const deviceClassStrategy = defineStrategy(DeviceClasses, {
  returnDeletedObject: true,
  hasGeneration: true,
  validate: ({ spec }) => [
    ...validateSelectors(spec?.selectors, 'spec.selectors'),
    ...eachOf('spec.config', spec?.config, ({ opaque }, at) => validateOpaque(opaque, child(at, 'opaque'))),
    ...(spec?.extendedResourceName === undefined || isExtendedResource(spec.extendedResourceName)
      ? []
      : [
          invalid(
            'spec.extendedResourceName',
            spec.extendedResourceName,
            'must be a valid extended resource name',
          ),
        ]),
  ],
  tableCells: (object, now) => [object.metadata.name, age(object, now)],
});

export const resourceClaimStrategy = defineStrategy(ResourceClaims, {
  validateStatusUpdate: ({ status }) =>
    status?.reservedFor?.length && !status.allocation
      ? [forbidden('status.reservedFor', 'may not be specified when `allocated` is not set')]
      : [],
  keptByStatus: 'all',
  returnDeletedObject: true,
  hasGeneration: false,
  default: (claim) => mapMember(claim, 'spec', (spec) => mapMember(spec, 'devices', defaultDevices)),
  validate: (claim) => validateDevices(claim.spec?.devices, 'spec.devices'),
  validateUpdate: (claim, old) => immutable('spec', claim.spec, old.spec, 'ResourceClaimSpec'),
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

const settable = new Set(['labels', 'annotations']);

/** Claims get labels and annotations from their template, and nothing else. */
function validateTemplateMeta(meta: Partial<ObjectMeta> | undefined): Errors {
  const path = 'spec.metadata';
  return [
    ...validateLabels(meta?.labels, child(path, 'labels')),
    ...validateAnnotations(meta?.annotations, child(path, 'annotations')),
    ...Object.keys(meta ?? {})
      .filter((field) => !settable.has(field))
      // Upstream makes the field's name out of the Go one.
      .map((field) => forbidden(child(path, field === 'uid' ? 'uID' : field), 'cannot be set')),
  ];
}

export const resourceClaimTemplateStrategy = defineStrategy(ResourceClaimTemplates, {
  returnDeletedObject: true,
  default: (template) =>
    mapMember(template, 'spec', (spec) =>
      fill(
        mapMember(spec, 'spec', (inner) => mapMember(inner, 'devices', defaultDevices)),
        { metadata: {} as never },
      ),
    ),
  validate: (template) => [
    ...validateTemplateMeta(template.spec?.metadata),
    ...validateDevices(template.spec?.spec?.devices, 'spec.spec.devices'),
  ],
  validateUpdate: (template, old) => [
    ...validateTemplateMeta(template.spec?.metadata),
    ...validateDevices(template.spec?.spec?.devices, 'spec.spec.devices'),
    ...immutable('spec', template.spec, old.spec, 'ResourceClaimTemplateSpec'),
  ],
  tableCells: (object, now) => [object.metadata.name, age(object, now)],
});

const longestPool = 253;

function validatePool(pool: ResourceSliceSpec['pool'] | undefined): Errors {
  const { name = '', generation = 0, resourceSliceCount: count = 0 } = pool ?? {};
  const at = 'spec.pool.name';
  return [
    ...(name === ''
      ? [required(at)]
      : [
          ...(name.length > longestPool ? [tooLong(at, longestPool)] : []),
          ...name.split('/').flatMap((part) => check(at, part, isDns1123Subdomain)),
        ]),
    ...(count > 0 ? [] : [invalid('spec.pool.resourceSliceCount', count, 'must be greater than zero')]),
    ...(generation < 0
      ? [invalid('spec.pool.generation', generation, 'must be greater than or equal to zero')]
      : []),
  ];
}

/** A slice is for one node, for some, for all, or each device says for which. */
function validateNodes(spec: ResourceSliceSpec | undefined): Errors {
  const name = spec?.nodeName;
  const given = [
    name ? '`nodeName`' : undefined,
    spec?.nodeSelector ? '`nodeSelector`' : undefined,
    spec?.allNodes ? '`allNodes`' : undefined,
    spec?.perDeviceNodeSelection ? '`perDeviceNodeSelection`' : undefined,
  ].filter((field) => field !== undefined);
  const detail =
    'exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required';
  return [
    ...(name === ''
      ? [invalid('spec.nodeName', name, 'must be either unset or set to a non-empty string')]
      : []),
    ...(name ? check('spec.nodeName', name, isDns1123Subdomain) : []),
    ...(spec?.nodeSelector
      ? validateNodeSelector(spec.nodeSelector.nodeSelectorTerms, 'spec.nodeSelector')
      : []),
    ...(['allNodes', 'perDeviceNodeSelection'] as const)
      .filter((field) => spec?.[field] === false)
      .map((field) => invalid(child('spec', field), false, 'must be either unset or set to true')),
    ...(given.length === 0 ? [required('spec', detail)] : []),
    ...(given.length > 1
      ? [invalid('spec', `{${given.join(', ')}}`, `${detail}, but multiple fields are set`)]
      : []),
  ];
}

const onlyPerDevice =
  '`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec';

/** A value of one type. */
function validateAttribute(attribute: object, path: string): Errors {
  const values = Object.values(attribute).filter((value) => value !== undefined);
  const detail = 'exactly one value must be specified';
  if (values.length === 0) return [invalid(path, '', detail)];
  return values.length > 1 ? [invalid(path, attribute, detail)] : [];
}

/** A taint that does not say since when it is there is there since now: tolerations count from then. */
const stampTaints = (slice: ResourceSlice, { now }: StrategyContext): ResourceSlice =>
  mapMember(slice, 'spec', (spec) =>
    mapMember(spec, 'devices', (devices) =>
      mapList(devices, (device) =>
        mapMember(device, 'taints', (taints) =>
          mapList(taints, (taint) => (taint.timeAdded ? taint : { ...taint, timeAdded: formatTime(now) })),
        ),
      ),
    ),
  );

function validateSlice({ spec }: ResourceSlice): Errors {
  return [
    ...validateCsiDriverName(spec?.driver, 'spec.driver'),
    ...validatePool(spec?.pool),
    ...validateNodes(spec),
    ...eachOf('spec.devices', spec?.devices, (device, at, i) => [
      ...check(child(at, 'name'), device.name ?? '', isDns1123Label),
      ...((spec?.devices?.findIndex(({ name }) => name === device.name) ?? i) < i
        ? [duplicate(at, device.name)]
        : []),
      ...Object.entries(device.attributes ?? {}).flatMap(([name, attribute]) => [
        ...qualified(name, child(at, 'attributes')),
        ...validateAttribute(attribute, mapKey(child(at, 'attributes'), name)),
      ]),
      ...Object.entries(device.capacity ?? {}).flatMap(([name, { requestPolicy }]) => [
        ...qualified(name, child(at, 'capacity')),
        ...(requestPolicy && !device.allowMultipleAllocations
          ? [
              forbidden(
                child(mapKey(child(at, 'capacity'), name), 'requestPolicy'),
                'allowMultipleAllocations must be true',
              ),
            ]
          : []),
      ]),
      ...(!spec?.perDeviceNodeSelection &&
      (device.nodeName ?? device.nodeSelector ?? device.allNodes) !== undefined
        ? [invalid(at, null, onlyPerDevice)]
        : []),
    ]),
  ];
}

export const resourceSliceStrategy = defineStrategy(ResourceSlices, {
  returnDeletedObject: true,
  hasGeneration: true,
  prepareForCreate: stampTaints,
  prepareForUpdate: (slice, _, context) => stampTaints(slice, context),
  warnings: ({ spec }) =>
    spec?.driver && spec.driver !== spec.driver.toLowerCase()
      ? [`spec.driver: driver names should be lowercase; "${spec.driver}" contains uppercase characters`]
      : [],
  validate: validateSlice,
  validateUpdate: (slice, { spec: oldSpec }) => {
    const { spec } = slice;
    return [
      ...validateSlice(slice),
      ...immutable('spec.pool.name', spec?.pool?.name ?? '', oldSpec?.pool?.name ?? ''),
      ...immutable('spec.driver', spec?.driver, oldSpec?.driver),
      ...immutable('spec.nodeName', spec?.nodeName, oldSpec?.nodeName),
    ];
  },
  selectableFieldNames: ['spec.nodeName', 'spec.driver'],
  unsupportedField: (field) =>
    `field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: ${field}`,
  selectableFields: ({ spec }) => ({
    'spec.nodeName': spec?.nodeName ?? '',
    'spec.driver': spec?.driver ?? '',
  }),
  tableCells: (slice, now) => [
    slice.metadata.name,
    slice.spec?.nodeName ?? '',
    slice.spec?.driver ?? '',
    slice.spec?.pool?.name ?? '',
    age(slice, now),
  ],
});
