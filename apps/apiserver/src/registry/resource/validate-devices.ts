import type {
  DeviceClaim,
  DeviceClaimConfiguration,
  DeviceConstraint,
  DeviceRequest,
  DeviceSelector,
  DeviceToleration,
  OpaqueDeviceConfiguration,
} from '@tinkernetes/api';
import {
  child,
  duplicate,
  invalid,
  isDns1123Label,
  isDns1123Subdomain,
  isLabelValue,
  isQualifiedName,
  required,
  tooLong,
} from '@tinkernetes/apimachinery';
import { CelCompileError, CelEnvironment } from '@tinkernetes/cel';
import { validateCsiDriverName } from '../pod-spec/volume-sources';
import { check, eachOf, oneOf, requireName } from '../rules';
import type { Errors } from '../rules';

/** `request`, or `request/subrequest`. */
type RequestNames = ReadonlySet<string>;

/** What a claim asks for. Source: resource/validation.validateDeviceClaim. */
export function validateDevices(devices: DeviceClaim | undefined, path: string): Errors {
  const requests = devices?.requests ?? [];
  const names = namesOf(requests);
  return [
    ...eachOf(child(path, 'requests'), requests, (request, at, i) => [
      ...validateRequest(request, at),
      ...(requests.findIndex(({ name }) => name === request.name) < i ? [duplicate(at, request.name)] : []),
    ]),
    ...eachOf(child(path, 'constraints'), devices?.constraints, (constraint, at) =>
      validateConstraint(constraint, at, names),
    ),
    ...eachOf(child(path, 'config'), devices?.config, (config, at) => validateConfig(config, at, names)),
  ];
}

const namesOf = (requests: readonly DeviceRequest[]): RequestNames =>
  new Set(
    requests.flatMap(({ name, firstAvailable }) => [
      name,
      ...(firstAvailable ?? []).map((part) => `${name}/${part.name}`),
    ]),
  );

function validateRequest(request: DeviceRequest, path: string): Errors {
  const { name, exactly, firstAvailable = [] } = request;
  const errors = check(child(path, 'name'), name ?? '', isDns1123Label);
  const hasAlternatives = firstAvailable.length > 0;
  if (exactly && hasAlternatives) {
    const detail = 'exactly one of `exactly` or `firstAvailable` is required, but multiple fields are set';
    return [...errors, invalid(path, null, detail)];
  }
  if (exactly) return [...errors, ...validateAmount(exactly, child(path, 'exactly'))];
  if (!hasAlternatives)
    return [...errors, required(path, 'exactly one of `exactly` or `firstAvailable` is required')];
  return [
    ...errors,
    ...eachOf(child(path, 'firstAvailable'), firstAvailable, (part, at, i) => [
      ...check(child(at, 'name'), part.name ?? '', isDns1123Label),
      ...validateAmount(part, at),
      ...(firstAvailable.findIndex((other) => other.name === part.name) < i
        ? [duplicate(at, part.name)]
        : []),
    ]),
  ];
}

interface Amount {
  deviceClassName: string;
  selectors?: DeviceSelector[];
  allocationMode?: string;
  count?: number;
  tolerations?: DeviceToleration[];
}

function validateAmount(request: Amount, path: string): Errors {
  const { allocationMode: mode, count = 0 } = request;
  const at = child(path, 'count');
  return [
    ...requireName(child(path, 'deviceClassName'), request.deviceClassName, isDns1123Subdomain),
    ...validateSelectors(request.selectors, child(path, 'selectors')),
    ...oneOf(child(path, 'allocationMode'), mode, ['All', 'ExactCount']),
    ...(mode === 'ExactCount' && count <= 0 ? [invalid(at, count, 'must be greater than zero')] : []),
    ...(mode === 'All' && count !== 0
      ? [invalid(at, count, "must not be specified when allocationMode is 'All'")]
      : []),
    ...eachOf(child(path, 'tolerations'), request.tolerations, validateToleration),
  ];
}

export const validateSelectors = (selectors: readonly DeviceSelector[] | undefined, path: string): Errors =>
  eachOf(path, selectors, ({ cel }, at) =>
    cel
      ? validateExpression(cel.expression ?? '', child(at, 'cel', 'expression'))
      : [required(child(at, 'cel'))],
  );

/** What the expressions of selectors speak of. */
const environment = new CelEnvironment(['device']);

function validateExpression(expression: string, path: string): Errors {
  try {
    environment.compile(expression);
    return [];
  } catch (error) {
    if (error instanceof CelCompileError) return [invalid(path, expression, error.message)];
    throw error;
  }
}

function validateToleration(toleration: DeviceToleration, path: string): Errors {
  const { key, value = '', effect } = toleration;
  const operator: string = toleration.operator ?? '';
  const at = child(path, 'value');
  return [
    ...(key ? check(child(path, 'key'), key, isQualifiedName) : []),
    ...(operator === '' ? [] : oneOf(child(path, 'operator'), operator, ['Equal', 'Exists'])),
    ...(operator === 'Equal' ? check(at, value, isLabelValue) : []),
    ...(operator === 'Exists' && value !== ''
      ? [invalid(at, value, 'must be empty for operator `Exists`')]
      : []),
    ...(effect ? oneOf(child(path, 'effect'), effect, ['NoExecute', 'NoSchedule', 'None']) : []),
  ];
}

function validateConstraint(constraint: DeviceConstraint, path: string, names: RequestNames): Errors {
  const { matchAttribute, distinctAttribute } = constraint;
  const errors = validateNames(constraint.requests, child(path, 'requests'), names);
  if (matchAttribute !== undefined)
    return [...errors, ...fullyQualified(matchAttribute, child(path, 'matchAttribute'))];
  if (distinctAttribute !== undefined)
    return [...errors, ...fullyQualified(distinctAttribute, child(path, 'distinctAttribute'))];
  const detail =
    'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set';
  return [...errors, required(path, detail)];
}

function validateNames(given: readonly string[] | undefined, path: string, names: RequestNames): Errors {
  const list = given ?? [];
  const detail =
    "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'";
  return eachOf(path, list, (name, at, i) => {
    const parts = name.split('/');
    if (parts.length > 2) return [invalid(at, name, detail)];
    return [
      ...parts.flatMap((part) => check(at, part, isDns1123Label)),
      ...(names.has(name) ? [] : [invalid(at, name, detail)]),
      ...(list.indexOf(name) < i ? [duplicate(at, name)] : []),
    ];
  });
}

const longestDomain = 63;
const longestId = 32;
const cIdentifier = /^[A-Za-z_][A-Za-z0-9_]*$/;
const cIdentifierDetail =
  "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for validation is '[A-Za-z_][A-Za-z0-9_]*')";

/** `name`, or `domain/name`. Source: resource/validation.validateQualifiedName. */
export function qualified(name: string, path: string): Errors {
  if (name === '') return [required(path, 'name required')];
  const parts = name.split('/');
  if (parts.length > 2)
    return [
      invalid(
        path,
        name,
        'a name must be either a C identifier or a DNS subdomain followed by a slash and a C identifier',
      ),
    ];
  const id = parts.at(-1) ?? '';
  const domain = parts.length === 2 ? (parts[0] ?? '') : undefined;
  return [
    ...(domain === undefined
      ? []
      : domain === ''
        ? [invalid(path, '', 'the domain must not be empty')]
        : [
            ...(domain.length > longestDomain ? [tooLong(path, longestDomain)] : []),
            ...check(path, domain, isDns1123Subdomain),
          ]),
    ...(id === ''
      ? [invalid(path, '', 'the name must not be empty')]
      : [
          ...(id.length > longestId ? [tooLong(path, longestId)] : []),
          ...(cIdentifier.test(id) ? [] : [invalid(path, id, cIdentifierDetail)]),
        ]),
  ];
}

function fullyQualified(name: string, path: string): Errors {
  const errors = qualified(name, path);
  return name === '' || name.includes('/')
    ? errors
    : [
        ...errors,
        invalid(path, name, 'a fully qualified name must be a domain and a name separated by a slash'),
      ];
}

const validateConfig = (config: DeviceClaimConfiguration, path: string, names: RequestNames): Errors => [
  ...validateNames(config.requests, child(path, 'requests'), names),
  ...validateOpaque(config.opaque, child(path, 'opaque')),
];

export function validateOpaque(config: OpaqueDeviceConfiguration | undefined, path: string): Errors {
  if (!config) return [required(path)];
  return [
    ...validateCsiDriverName(config.driver, child(path, 'driver')),
    ...((config.parameters ?? undefined) === undefined ? [required(child(path, 'parameters'))] : []),
  ];
}
