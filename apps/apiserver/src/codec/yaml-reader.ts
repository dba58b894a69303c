import {
  parseAllDocuments,
  isMap,
  isScalar,
  isSeq,
  type Document,
  type Scalar,
  type ScalarTag,
  type YAMLParseError,
} from 'yaml';
import { hasSurrogates } from './surrogates';
import { parseJson } from './json-reader';
import { JsonSyntaxError } from './json-syntax-error';
import { maxDepth } from './json-depth';
import type { ParsedJson } from './parsed-json';

export type ParsedYaml = Required<ParsedJson>;

/**
 * The first document of a YAML text, read by YAML 1.1's rules (`yes` is true) as sigs.k8s.io/yaml does. Keys become
 * strings; duplicates are reported.
 */
export function parseYaml(text: string): ParsedYaml {
  const json = plainJson(text);
  if (json) return { value: json, duplicates: [], duplicateLines: [], isCut: false };
  if (isDeep(text)) return deepJson(text);
  const documents = parseAllDocuments(text, {
    version: '1.1',
    uniqueKeys: false,
    merge: true,
    logLevel: 'silent',
    customTags: (tags) => [...tags.filter((tag) => typeof tag === 'string' || isJsonTag(tag)), binary],
  });
  const document = Array.isArray(documents) ? documents[0] : undefined;
  if (!document) return { value: null, duplicates: [], duplicateLines: [], isCut: false };
  const error = document.errors[0];
  if (error) throw new JsonSyntaxError(goYamlError(error, text));
  const duplicates: string[] = [];
  const duplicateLines: string[] = [];
  checkKeys(document.contents, '', { text, duplicates, duplicateLines });
  const value = toJson(document, text.includes('*'));
  // Read again as JSON, halves of characters are replaced.
  return {
    value: hasSurrogates(text) ? parseJson(JSON.stringify(value)).value : value,
    duplicates,
    duplicateLines,
    isCut: false,
  };
}

/**
 * The object of a text that is JSON as `JSON.stringify` writes it, so without duplicate keys, and that YAML reads alike:
 * what clients send to apply. A hundred times as fast as the YAML library.
 */
function plainJson(text: string): object | undefined {
  const compact = text.trimEnd();
  if (!compact.startsWith('{') || otherInYaml.test(compact) || isDeep(compact)) return undefined;
  try {
    const value = JSON.parse(compact) as object;
    return JSON.stringify(value) === compact ? value : undefined;
  } catch (error) {
    // The library finds the same fault.
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Characters that YAML treats apart, halves of characters, merges, and numbers with an exponent. */
const otherInYaml = /[^ -~]|\\u[dD][89a-fA-F]|"<<"|\d[eE][+-]?\d/;

/**
 * Whether brackets, or a line's indentation and dashes, go deeper than anything that is meant. The library reads
 * recursively, and has no limit.
 */
function isDeep(text: string): boolean {
  let depth = 0;
  let indentation = 0;
  for (const char of text) {
    if (char === '\n') indentation = 0;
    else if (indentation >= 0)
      indentation = char === ' ' || char === '-' || char === '?' ? indentation + 1 : -1;
    if (indentation > maxDepth) return true;
    if (char === '[' || char === '{') depth++;
    else if (char === ']' || char === '}') depth = Math.max(0, depth - 1);
    if (depth > maxDepth) return true;
  }
  return false;
}

/** JSON is YAML, and its reader needs no stack for depth. */
function deepJson(text: string): ParsedYaml {
  const tooDeep = (cause?: unknown) => new JsonSyntaxError('yaml: exceeded max depth of 10000', { cause });
  if (!/^\s*[[{]/.test(text)) throw tooDeep();
  try {
    const { value, isCut = false } = parseJson(text);
    return { value, duplicates: [], duplicateLines: [], isCut };
  } catch (error) {
    throw error instanceof JsonSyntaxError ? tooDeep(error) : error;
  }
}

/** Times, sexagesimal numbers and the like are text to whoever wants JSON, as they are to go-yaml. */
const isJsonTag = ({ tag, format }: { tag: string; format?: string }): boolean =>
  format !== 'TIME' && !/:(timestamp|binary|set|omap|pairs)$/.test(tag);

/** To go-yaml, bytes are text. */
const binary: ScalarTag = {
  tag: 'tag:yaml.org,2002:binary',
  resolve: (text) => Buffer.from(text, 'base64').toString('utf8'),
};

/** Throws for what is well-formed and yet no value: endless aliases, merges of scalars. */
function toJson(document: Document, hasAliases: boolean): unknown {
  try {
    const value = document.toJS({ maxAliasCount: 1000, reviver: refuseInfinite }) as unknown;
    if (hasAliases) refuseCircles(value, new Set());
    return value;
  } catch (error) {
    if (!(error instanceof Error) || error instanceof JsonSyntaxError) throw error;
    throw new JsonSyntaxError(goAliasError(error.message), { cause: error });
  }
}

function goAliasError(message: string): string {
  const unknown = /^Unresolved alias .*: (\S+)$/.exec(message)?.[1];
  if (unknown !== undefined) return `yaml: unknown anchor '${unknown}' referenced`;
  return /alias/i.test(message)
    ? 'yaml: document contains excessive aliasing'
    : 'yaml: map merge requires map or sequence of maps as the value';
}

/** JSON has no such numbers. */
function refuseInfinite(_key: unknown, value: unknown): unknown {
  if (typeof value !== 'number' || Number.isFinite(value)) return value;
  const shown = Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
  throw new JsonSyntaxError(`json: unsupported value: ${shown}`);
}

function refuseCircles(value: unknown, holders: Set<unknown>): void {
  if (value === null || typeof value !== 'object') return;
  if (holders.has(value)) throw new JsonSyntaxError('yaml: an anchor contains itself');
  holders.add(value);
  for (const member of Object.values(value)) refuseCircles(member, holders);
  holders.delete(value);
}

interface FoundKeys {
  readonly text: string;
  readonly duplicates: string[];
  readonly duplicateLines: string[];
}

/** Gathers the keys that are there twice, and throws where one is missing. */
function checkKeys(node: unknown, path: string, found: FoundKeys): void {
  const { text, duplicates, duplicateLines } = found;
  if (isSeq(node)) node.items.forEach((item, i) => checkKeys(item, `${path}[${i}]`, found));
  if (!isMap(node)) return;
  const seen = new Set<string>();
  for (const { key, value } of node.items) {
    if (!node.flow && isMissing(key)) throw new JsonSyntaxError(missingKeyError(key, text));
    const problem = keyProblem(key, value);
    if (problem) throw new JsonSyntaxError(problem);
    const name = String(isScalar(key) ? key.value : key);
    const place = path ? `${path}.${name}` : name;
    if (seen.has(name)) {
      duplicates.push(place);
      const line = text.slice(0, isScalar(key) ? (key.range?.[0] ?? 0) : 0).split('\n').length;
      duplicateLines.push(`line ${line}: key ${JSON.stringify(name)} already set in map`);
    }
    seen.add(name);
    checkKeys(value, place, found);
  }
}

/** What is a key in YAML and cannot be one in JSON, in the words of go-yaml and of its way to JSON. */
function keyProblem(key: unknown, value: unknown): string | undefined {
  const goValue = (node: unknown) => JSON.stringify(isScalar(node) ? node.value : node) ?? '';
  if (isSeq(key)) return `yaml: invalid map key: []interface {}{${key.items.map(goValue).join(', ')}}`;
  if (!isScalar(key) || key.value !== null) return undefined;
  return `unsupported map key of type: %!s(<nil>), key: <nil>, value: ${goValue(value)}`;
}

/** A value whose key is left out: libyaml knows none, where YAML does. */
const isMissing = (key: unknown): key is Scalar =>
  isScalar(key) && key.value === null && key.source === '' && key.tag === undefined;

/** Lines are counted from 0, and the first is not named. */
function missingKeyError({ range }: Scalar, text: string): string {
  const line = text.slice(0, range?.[0] ?? 0).split('\n').length - 1;
  return `yaml: ${line === 0 ? '' : `line ${line}: `}did not find expected key`;
}

/** go-yaml's words for the commonest faults. */
function goYamlError(error: YAMLParseError, text: string): string {
  const line = error.linePos?.[0].line ?? 1;
  const total = text.split('\n').length;
  switch (error.code) {
    case 'BAD_INDENT':
    case 'MISSING_CHAR':
      if (/quote/.test(error.message)) return `yaml: line ${line}: found unexpected end of stream`;
      return /flow/i.test(error.message)
        ? `yaml: line ${Math.min(line, total)}: ${unclosedError(text)}`
        : `yaml: line ${line}: could not find expected ':'`;
    case 'TAB_AS_INDENT':
    case 'BAD_SCALAR_START':
      return `yaml: ${inLine(line)}found character that cannot start any token`;
    case 'BLOCK_AS_IMPLICIT_KEY':
      return `yaml: ${inLine(line)}mapping values are not allowed in this context`;
    default:
      return `yaml: line ${line}: did not find expected node content`;
  }
}

/** The first line is not named. */
const inLine = (line: number): string => (line === 1 ? '' : `line ${line}: `);

/** What is missing at the end of a text whose brackets are not all closed. */
function unclosedError(text: string): string {
  const end = text.trimEnd();
  if (/[[{,]$/.test(end)) return 'did not find expected node content';
  return end.lastIndexOf('{') > end.lastIndexOf('[')
    ? "did not find expected ',' or '}'"
    : "did not find expected ',' or ']'";
}
