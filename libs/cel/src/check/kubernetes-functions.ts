import { listElements } from './extension-functions';

const quantity = 'kubernetes.Quantity';
const semver = 'kubernetes.Semver';
const url = 'kubernetes.URL';
const format = 'kubernetes.NamedFormat';
const authorizer = 'kubernetes.authorization.Authorizer';
const groupCheck = 'kubernetes.authorization.GroupCheck';
const resourceCheck = 'kubernetes.authorization.ResourceCheck';
const pathCheck = 'kubernetes.authorization.PathCheck';
const decision = 'kubernetes.authorization.Decision';

const compared = (type: string): string[] => [`${type}_compare: ${type}.(${type}) -> bool`];

const listFunction = (name: string, types: readonly string[], result?: string): string[] =>
  types.map((type) => `list_${type}_${name}: list(${type}).() -> ${result ?? type}`);

/** https://kubernetes.io/docs/reference/using-api/cel/#cel-options-language-features-and-libraries */
export const kubernetes: Readonly<Record<string, readonly string[]>> = {
  isSorted: listFunction('is_sorted_bool', listElements, 'bool'),
  sum: listFunction('sum', ['int', 'uint', 'double', 'duration']),
  max: listFunction('max', listElements),
  min: listFunction('min', listElements),
  find: ['string_find_string: string.(string) -> string'],
  findAll: [
    'string_find_all_string: string.(string) -> list(string)',
    'string_find_all_string_int: string.(string, int) -> list(string)',
  ],
  url: [`string_to_url: (string) -> ${url}`],
  isURL: ['is_url_string: (string) -> bool'],
  getScheme: [`url_get_scheme: ${url}.() -> string`],
  getHost: [`url_get_host: ${url}.() -> string`],
  getHostname: [`url_get_hostname: ${url}.() -> string`],
  getPort: [`url_get_port: ${url}.() -> string`],
  getEscapedPath: [`url_get_escaped_path: ${url}.() -> string`],
  getQuery: [`url_get_query: ${url}.() -> map(string, list(string))`],
  ip: ['string_to_ip: (string) -> net.IP', 'cidr_ip: net.CIDR.() -> net.IP'],
  'ip.isCanonical': ['ip_is_canonical: (string) -> bool'],
  isIP: ['is_ip: (string) -> bool'],
  family: ['ip_family: net.IP.() -> int'],
  isUnspecified: ['ip_is_unspecified: net.IP.() -> bool'],
  isLoopback: ['ip_is_loopback: net.IP.() -> bool'],
  isLinkLocalMulticast: ['ip_is_link_local_multicast: net.IP.() -> bool'],
  isLinkLocalUnicast: ['ip_is_link_local_unicast: net.IP.() -> bool'],
  isGlobalUnicast: ['ip_is_global_unicast: net.IP.() -> bool'],
  cidr: ['string_to_cidr: (string) -> net.CIDR'],
  isCIDR: ['is_cidr: (string) -> bool'],
  containsIP: [
    'cidr_contains_ip_string: net.CIDR.(string) -> bool',
    'cidr_contains_ip_ip: net.CIDR.(net.IP) -> bool',
  ],
  containsCIDR: [
    'cidr_contains_cidr_string: net.CIDR.(string) -> bool',
    'cidr_contains_cidr: net.CIDR.(net.CIDR) -> bool',
  ],
  masked: ['cidr_masked: net.CIDR.() -> net.CIDR'],
  prefixLength: ['cidr_prefix_length: net.CIDR.() -> int'],
  string: ['ip_to_string: (net.IP) -> string', 'cidr_to_string: (net.CIDR) -> string'],
  quantity: [`string_to_quantity: (string) -> ${quantity}`],
  isQuantity: ['is_quantity_string: (string) -> bool'],
  sign: [`quantity_sign: (${quantity}) -> int`],
  isGreaterThan: [...compared(quantity), ...compared(semver)],
  isLessThan: [...compared(quantity), ...compared(semver)],
  compareTo: [
    `quantity_compare_to: ${quantity}.(${quantity}) -> int`,
    `semver_compare_to: ${semver}.(${semver}) -> int`,
  ],
  asApproximateFloat: [`quantity_get_float: ${quantity}.() -> double`],
  asInteger: [`quantity_get_int: ${quantity}.() -> int`],
  isInteger: [`quantity_is_integer: ${quantity}.() -> bool`],
  add: [
    `quantity_add: ${quantity}.(${quantity}) -> ${quantity}`,
    `quantity_add_int: ${quantity}.(int) -> ${quantity}`,
  ],
  sub: [
    `quantity_sub: ${quantity}.(${quantity}) -> ${quantity}`,
    `quantity_sub_int: ${quantity}.(int) -> ${quantity}`,
  ],
  semver: [`string_to_semver: (string) -> ${semver}`, `string_bool_to_semver: (string, bool) -> ${semver}`],
  isSemver: ['is_semver_string: (string) -> bool', 'is_semver_string_bool: (string, bool) -> bool'],
  major: [`semver_major: ${semver}.() -> int`],
  minor: [`semver_minor: ${semver}.() -> int`],
  patch: [`semver_patch: ${semver}.() -> int`],
  'format.named': [`format_named: (string) -> optional_type(${format})`],
  validate: [`format_validate: ${format}.(string) -> optional_type(list(string))`],
  ...Object.fromEntries(
    [
      'dns1123Label',
      'dns1123Subdomain',
      'dns1035Label',
      'qualifiedName',
      'dns1123LabelPrefix',
      'dns1123SubdomainPrefix',
      'dns1035LabelPrefix',
      'labelValue',
      'uri',
      'uuid',
      'byte',
      'date',
      'datetime',
    ].map((name) => [`format.${name}`, [`${name}: () -> ${format}`]]),
  ),
  path: [`authorizer_path: ${authorizer}.(string) -> ${pathCheck}`],
  group: [`authorizer_group: ${authorizer}.(string) -> ${groupCheck}`],
  serviceAccount: [`authorizer_serviceaccount: ${authorizer}.(string, string) -> ${authorizer}`],
  resource: [`groupcheck_resource: ${groupCheck}.(string) -> ${resourceCheck}`],
  ...Object.fromEntries(
    ['subresource', 'namespace', 'name', 'fieldSelector', 'labelSelector'].map((name) => [
      name,
      [`resourcecheck_${name}: ${resourceCheck}.(string) -> ${resourceCheck}`],
    ]),
  ),
  check: [
    `pathcheck_check: ${pathCheck}.(string) -> ${decision}`,
    `resourcecheck_check: ${resourceCheck}.(string) -> ${decision}`,
  ],
  errored: [`decision_errored: ${decision}.() -> bool`],
  error: [`decision_error: ${decision}.() -> string`],
  allowed: [`decision_allowed: ${decision}.() -> bool`],
  reason: [`decision_reason: ${decision}.() -> string`],
};
