import { badRequest, StatusError } from '@tinkernetes/apimachinery';
import { JsonSyntaxError } from '../codec/json-syntax-error';
import { parseJson } from '../codec/json-reader';
import type { ParsedJson } from '../codec/parsed-json';
import { jsonTypeOf } from '../codec/decode-state';
import { parseYaml } from '../codec/yaml-reader';
import { decodeProtobuf } from '../protobuf';

export type BodyFormat = 'json' | 'yaml' | 'protobuf';

const formats: Readonly<Record<string, BodyFormat>> = {
  'application/json': 'json',
  'application/yaml': 'yaml',
  'application/vnd.kubernetes.protobuf': 'protobuf',
};

/** By Content-Type; none means JSON. Throws 415. */
export function bodyFormat(contentType: string | undefined): BodyFormat {
  const mediaType = (contentType ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  const format = mediaType === '' ? 'json' : formats[mediaType];
  if (!format) throw unsupportedMediaType(Object.keys(formats));
  return format;
}

export const unsupportedMediaType = (accepted: readonly string[]): StatusError =>
  new StatusError(
    'UnsupportedMediaType',
    `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`,
  );

/** The body's value. `kind` is for messages; errors are worded as upstream's codec factory words them. */
export function parseBody(body: Buffer, format: BodyFormat, kind: string): ParsedJson {
  if (format === 'protobuf') return { value: decodeProtobuf(body), duplicates: [] };
  const parsed = format === 'yaml' ? parseYamlBody(body, kind) : parseJsonBody(body, kind);
  const problem = typeMetaProblem(parsed.value);
  if (!problem) return checkedVersion(parsed, body, kind);
  throw unrecognized(
    kind,
    `couldn't get version/kind; json parse error: json: cannot unmarshal ${problem} (${excerpt(body)})`,
  );
}

/** Of group and version there are no more than two parts. */
function checkedVersion(parsed: ParsedJson, body: Buffer, kind: string): ParsedJson {
  const { apiVersion } = (parsed.value ?? {}) as { apiVersion?: string | null };
  if (!apiVersion || apiVersion.split('/').length <= 2) return parsed;
  throw unrecognized(kind, `unexpected GroupVersion string: ${apiVersion} (${excerpt(body)})`);
}

/** Why apiVersion and kind cannot be read off a value, in encoding/json's words. */
export function typeMetaProblem(value: unknown): string | undefined {
  if (value === null) return undefined;
  if (typeof value !== 'object' || Array.isArray(value))
    return `${jsonTypeOf(value)} into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`;
  for (const field of ['apiVersion', 'kind']) {
    const given = (value as Record<string, unknown>)[field];
    if (given !== undefined && given !== null && typeof given !== 'string')
      return `${jsonTypeOf(given)} into Go struct field .${field} of type string`;
  }
  return undefined;
}

function parseJsonBody(body: Buffer, kind: string): ParsedJson {
  try {
    return parseJson(body.toString('utf8'));
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    throw unrecognized(
      kind,
      `couldn't get version/kind; json parse error: ${error.message} (${excerpt(body)})`,
    );
  }
}

function parseYamlBody(body: Buffer, kind: string): ParsedJson {
  try {
    return parseYaml(body.toString('utf8'));
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    throw unrecognized(kind, `${error.message} (${excerpt(body)})`);
  }
}

export const unrecognized = (kind: string, reason: string): StatusError =>
  badRequest(`the object provided is unrecognized (must be of type ${kind}): ${reason}`);

/** The beginning of the body: as text where it looks like JSON, else as hex. Source: runtime.NewNotRegistered… `serializer`. */
export function excerpt(body: Buffer): string {
  if (body.length === 0) return '<empty>';
  if (body[0] === 0x7b) {
    const text = body.toString('utf8');
    return text.length > 30 ? `${text.slice(0, 30)} ...` : text;
  }
  return hexExcerpt(body);
}

const hexExcerpt = (body: Buffer): string =>
  body.length > 30 ? `${body.subarray(0, 30).toString('hex')} ...` : body.toString('hex');
