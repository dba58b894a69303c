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

/** The language. Source: cel-go common/stdlib and its optional types. */
export const language: Readonly<Record<string, readonly string[]>> = {
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
