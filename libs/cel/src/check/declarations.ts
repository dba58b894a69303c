import { parseType, splitList, type CelType } from './cel-type';

/** One way to call a function. */
export interface Overload {
  readonly id: string;
  readonly isMember: boolean;
  readonly args: readonly CelType[];
  readonly result: CelType;
  /** Names of the type parameters in it. */
  readonly parameters: readonly string[];
}

/** `id: (args) -> result`, or with a target, `id: target.(args) -> result`. */
const line = /^([\w@.]+): (?:(.+?)\.)?\((.*)\) -> (.+)$/;

/** Reads a line like `list_first: list(A).() -> optional_type(A)`. */
export function parseOverload(text: string): Overload {
  const [, id = '', target, args = '', result = ''] = line.exec(text) ?? [];
  if (id === '') throw new Error(`no declaration: ${text}`);
  const types = [...(target === undefined ? [] : [target]), ...splitList(args)];
  const parameters = [...new Set(text.match(/\b[A-Z]\b/g) ?? [])];
  return {
    id,
    isMember: target !== undefined,
    args: types.map(parseType),
    result: parseType(result),
    parameters,
  };
}

const scalars = ['bool', 'int', 'uint', 'double', 'string', 'bytes', 'timestamp', 'duration'];
const numbers = ['int', 'uint', 'double'];

function relation(name: string): string[] {
  const crossed = numbers.flatMap((a) => numbers.filter((b) => b !== a).map((b) => [a, b] as const));
  return [
    ...scalars.map((type) => `${name}_${type}: (${type}, ${type}) -> bool`),
    ...crossed.map(([a, b]) => `${name}_${a}_${b}: (${a}, ${b}) -> bool`),
  ];
}

const arithmetic = (name: string, types: readonly string[]): string[] =>
  types.map((type) => `${name}_${type}: (${type}, ${type}) -> ${type}`);

const timePart = (name: string, { ofDuration = false } = {}): string[] => [
  `timestamp_${name}: timestamp.() -> int`,
  `timestamp_${name}_tz: timestamp.(string) -> int`,
  ...(ofDuration ? [`duration_${name}: duration.() -> int`] : []),
];

const compared = (type: string): string[] => [`${type}_compare: ${type}.(${type}) -> bool`];

const quantity = 'kubernetes.Quantity';
const semver = 'kubernetes.Semver';
const url = 'kubernetes.URL';
const format = 'kubernetes.NamedFormat';
const authorizer = 'kubernetes.authorization.Authorizer';
const groupCheck = 'kubernetes.authorization.GroupCheck';
const resourceCheck = 'kubernetes.authorization.ResourceCheck';
const pathCheck = 'kubernetes.authorization.PathCheck';
const decision = 'kubernetes.authorization.Decision';

/** The language. Source: cel-go common/stdlib and its optional types. */
const language: Readonly<Record<string, readonly string[]>> = {
  '_&&_': ['logical_and: (bool, bool) -> bool'],
  '_||_': ['logical_or: (bool, bool) -> bool'],
  '!_': ['logical_not: (bool) -> bool'],
  '_?_:_': ['conditional: (bool, A, A) -> A'],
  '@not_strictly_false': ['not_strictly_false: (bool) -> bool'],
  '_==_': ['equals: (A, A) -> bool'],
  '_!=_': ['not_equals: (A, A) -> bool'],
  '_<_': relation('less'),
  '_<=_': relation('less_equals'),
  '_>_': relation('greater'),
  '_>=_': relation('greater_equals'),
  '_+_': [
    ...arithmetic('add', ['bytes', 'double', 'duration']),
    'add_duration_timestamp: (duration, timestamp) -> timestamp',
    'add_timestamp_duration: (timestamp, duration) -> timestamp',
    ...arithmetic('add', ['int']),
    'add_list: (list(A), list(A)) -> list(A)',
    ...arithmetic('add', ['string', 'uint']),
  ],
  '_-_': [
    ...arithmetic('subtract', ['double', 'duration', 'int', 'uint']),
    'subtract_timestamp_duration: (timestamp, duration) -> timestamp',
    'subtract_timestamp_timestamp: (timestamp, timestamp) -> duration',
  ],
  '_*_': arithmetic('multiply', numbers),
  '_/_': arithmetic('divide', numbers),
  '_%_': arithmetic('modulo', ['int', 'uint']),
  '-_': ['negate_double: (double) -> double', 'negate_int: (int) -> int'],
  '_[_]': [
    'index_list: (list(A), int) -> A',
    'index_map: (map(A, B), A) -> B',
    'optional_list_index: (optional_type(list(A)), int) -> optional_type(A)',
    'optional_map_index: (optional_type(map(A, B)), A) -> optional_type(B)',
  ],
  '_[?_]': [
    'list_optindex_optional_int: (list(A), int) -> optional_type(A)',
    'optional_list_optindex_optional_int: (optional_type(list(A)), int) -> optional_type(A)',
    'map_optindex_optional_value: (map(A, B), A) -> optional_type(B)',
    'optional_map_optindex_optional_value: (optional_type(map(A, B)), A) -> optional_type(B)',
  ],
  '@in': ['in_list: (A, list(A)) -> bool', 'in_map: (A, map(A, B)) -> bool'],
  size: ['bytes', 'list(A)', 'map(A, B)', 'string'].flatMap((type) => {
    const name = type.replace(/\(.*/, '');
    return [`size_${name}: (${type}) -> int`, `${name}_size: ${type}.() -> int`];
  }),
  bool: ['bool_to_bool: (bool) -> bool', 'string_to_bool: (string) -> bool'],
  bytes: ['bytes_to_bytes: (bytes) -> bytes', 'string_to_bytes: (string) -> bytes'],
  double: ['double', 'int', 'string', 'uint'].map((type) => `${type}_to_double: (${type}) -> double`),
  duration: ['duration', 'int', 'string'].map((type) => `${type}_to_duration: (${type}) -> duration`),
  dyn: ['to_dyn: (A) -> dyn'],
  int: ['int', 'double', 'duration', 'string', 'timestamp', 'uint'].map(
    (type) => `${type}_to_int: (${type}) -> int`,
  ),
  string: scalars.map((type) => `${type}_to_string: (${type}) -> string`),
  timestamp: ['timestamp', 'int', 'string'].map((type) => `${type}_to_timestamp: (${type}) -> timestamp`),
  type: ['type: (A) -> type(A)'],
  uint: ['uint', 'double', 'int', 'string'].map((type) => `${type}_to_uint: (${type}) -> uint`),
  contains: ['contains_string: string.(string) -> bool'],
  endsWith: ['ends_with_string: string.(string) -> bool'],
  startsWith: ['starts_with_string: string.(string) -> bool'],
  matches: ['matches: (string, string) -> bool', 'matches_string: string.(string) -> bool'],
  getFullYear: timePart('to_year'),
  getMonth: timePart('to_month'),
  getDayOfYear: timePart('to_day_of_year'),
  getDayOfMonth: timePart('to_day_of_month'),
  getDate: timePart('to_day_of_month_1_based'),
  getDayOfWeek: timePart('to_day_of_week'),
  getHours: timePart('to_hours', { ofDuration: true }),
  getMinutes: timePart('to_minutes', { ofDuration: true }),
  getSeconds: timePart('to_seconds', { ofDuration: true }),
  getMilliseconds: timePart('to_milliseconds', { ofDuration: true }),
  'optional.of': ['optional_of: (A) -> optional_type(A)'],
  'optional.ofNonZeroValue': ['optional_ofNonZeroValue: (A) -> optional_type(A)'],
  'optional.none': ['optional_none: () -> optional_type(A)'],
  'optional.unwrap': ['optional_unwrap: (list(optional_type(A))) -> list(A)'],
  unwrapOpt: ['optional_unwrapOpt: list(optional_type(A)).() -> list(A)'],
  value: ['optional_value: optional_type(A).() -> A'],
  hasValue: ['optional_hasValue: optional_type(A).() -> bool'],
  or: ['optional_or_optional: optional_type(A).(optional_type(A)) -> optional_type(A)'],
  orValue: ['optional_orValue_value: optional_type(A).(A) -> A'],
  first: ['list_first: list(A).() -> optional_type(A)'],
  last: ['list_last: list(A).() -> optional_type(A)'],
};

const listElements = ['int', 'uint', 'double', 'bool', 'duration', 'timestamp', 'string', 'bytes'];
const listFunction = (name: string, types: readonly string[], result?: string): string[] =>
  types.map((type) => `list_${type}_${name}: list(${type}).() -> ${result ?? type}`);

/** cel-go's extensions, of the versions that Kubernetes uses. */
const extensions: Readonly<Record<string, readonly string[]>> = {
  charAt: ['string_char_at_int: string.(int) -> string'],
  indexOf: [
    'string_index_of_string: string.(string) -> int',
    'string_index_of_string_int: string.(string, int) -> int',
    'list_a_index_of_int: list(A).(A) -> int',
  ],
  lastIndexOf: [
    'string_last_index_of_string: string.(string) -> int',
    'string_last_index_of_string_int: string.(string, int) -> int',
    'list_a_last_index_of_int: list(A).(A) -> int',
  ],
  join: ['list_join: list(string).() -> string', 'list_join_string: list(string).(string) -> string'],
  lowerAscii: ['string_lower_ascii: string.() -> string'],
  upperAscii: ['string_upper_ascii: string.() -> string'],
  replace: [
    'string_replace_string_string: string.(string, string) -> string',
    'string_replace_string_string_int: string.(string, string, int) -> string',
  ],
  split: [
    'string_split_string: string.(string) -> list(string)',
    'string_split_string_int: string.(string, int) -> list(string)',
  ],
  substring: [
    'string_substring_int: string.(int) -> string',
    'string_substring_int_int: string.(int, int) -> string',
  ],
  trim: ['string_trim: string.() -> string'],
  format: ['string_format: string.(list(dyn)) -> string'],
  'strings.quote': ['strings_quote: (string) -> string'],
  'sets.contains': ['list_sets_contains_list: (list(A), list(A)) -> bool'],
  'sets.equivalent': ['list_sets_equivalent_list: (list(A), list(A)) -> bool'],
  'sets.intersects': ['list_sets_intersects_list: (list(A), list(A)) -> bool'],
  'cel.@mapInsert': [
    '@mapInsert_map_map: (map(A, B), map(A, B)) -> map(A, B)',
    '@mapInsert_map_key_value: (map(A, B), A, B) -> map(A, B)',
  ],
  slice: ['list_slice: list(A).(int, int) -> list(A)'],
  flatten: ['list_flatten: list(list(A)).() -> list(A)', 'list_flatten_int: list(dyn).(int) -> list(dyn)'],
  sort: listElements.map((type) => `list_${type}_sort: list(${type}).() -> list(${type})`),
  '@sortByAssociatedKeys': listElements.map(
    (type) => `list_${type}_sortByAssociatedKeys: list(A).(list(${type})) -> list(A)`,
  ),
  'lists.range': ['lists_range: (int) -> list(int)'],
  reverse: ['list_reverse: list(A).() -> list(A)'],
  distinct: ['list_distinct: list(A).() -> list(A)'],
};

/** https://kubernetes.io/docs/reference/using-api/cel/#cel-options-language-features-and-libraries */
const kubernetes: Readonly<Record<string, readonly string[]>> = {
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

const parsed = new Map<string, readonly Overload[]>();

/** The ways to call a function; undefined: there is none of that name. */
export function overloadsOf(name: string): readonly Overload[] | undefined {
  const known = parsed.get(name);
  if (known) return known;
  const lines = [language, extensions, kubernetes].flatMap((library) =>
    Object.hasOwn(library, name) ? (library[name] ?? []) : [],
  );
  if (lines.length === 0) return undefined;
  const overloads = lines.map(parseOverload);
  parsed.set(name, overloads);
  return overloads;
}
