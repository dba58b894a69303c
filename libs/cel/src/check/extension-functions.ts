/** What the elements of lists can be that functions put in order. */
export const listElements = ['int', 'uint', 'double', 'bool', 'duration', 'timestamp', 'string', 'bytes'];

/** cel-go's extensions, of the versions that Kubernetes uses. */
export const extensions: Readonly<Record<string, readonly string[]>> = {
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
