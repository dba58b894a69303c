import type { KubeObject } from '@tinkernetes/api';
import { loadSchemas } from '@tinkernetes/api';
import {
  applyJsonPatch,
  applyMergePatch,
  applyStrategicMergePatch,
  badRequest,
  goFormat,
  isObject,
  type StatusError,
} from '@tinkernetes/apimachinery';
import { hasCuts } from '../codec/json-depth';
import { JsonSyntaxError } from '../codec/json-syntax-error';
import { parseJson } from '../codec/json-reader';
import type { ParsedJson } from '../codec/parsed-json';
import type { ObjectCodec } from '../codec/object-codec';
import { jsonTypeOf } from '../codec/decode-state';
import { readBody } from '../server/body';
import type { EndpointContext, ResourceRequest } from './context';
import { checkPatchedType, decodePatched, reportPatched, showPatched } from './patch-strictness';
import { patchType } from './patch-type';
import { tooDeep } from './read-object';
import type { FieldValidation } from './write-options';

/** What a patch is made for: the kind it patches, as the request's version shows it. */
export interface PatchTarget {
  codec: ObjectCodec;
  /** Go type of the internal object, for messages: `apps.Deployment`. */
  internalType: string;
  custom: boolean;
  fieldValidation: FieldValidation;
}

/** Makes of an object what the patch asks for. The client's mistakes are refused there: first the object must exist. */
export interface Patch {
  apply(live: unknown): KubeObject;
}

/** A patch read from a body, before it is applied. */
interface PatchDocument {
  apply(live: unknown): unknown;
  /** The result in messages. */
  show(patched: unknown): string;
  /** Members that are there twice, or have no meaning. */
  strictErrors: readonly string[];
  /** Whether something in it lay too deep to be kept. */
  isCut: boolean;
}

/** The patch in the request's body. */
export async function readPatch(
  context: EndpointContext,
  request: ResourceRequest,
  target: PatchTarget,
): Promise<Patch> {
  const type = patchType(request);
  const body = await readBody(request.raw, context.options.maxRequestBodyBytes);
  let document: PatchDocument | undefined;
  return {
    apply(live) {
      document ??= documents[type === 'apply' ? 'merge' : type](body, target);
      const { strictErrors, show } = document;
      const patched = document.apply(live);
      const shown = () => show(patched);
      const strategic = type === 'strategic';
      const isInternal = !strategic && checkPatchedType(target, patched, shown);
      const { object, unknown } = isInternal
        ? internalObject(patched)
        : decodePatched(target.codec, patched, { shown, strategic });
      if (document.isCut && hasCuts(object)) throw tooDeep();
      const strict = [...strictErrors, ...(strategic ? [...unknown].sort() : unknown)];
      reportPatched(request, strict, { shown, fieldValidation: target.fieldValidation });
      return object;
    },
  };
}

const documents: Readonly<
  Record<'json' | 'merge' | 'strategic', (body: Buffer, target: PatchTarget) => PatchDocument>
> = {
  json: jsonPatch,
  merge: mergePatch,
  strategic: strategicPatch,
};

function jsonPatch(body: Buffer, { custom, fieldValidation }: PatchTarget): PatchDocument {
  const isLoose = fieldValidation === 'Ignore';
  const { value: change, duplicates, isCut = false } = parse(body, isLoose ? '' : strictPrefix);
  return {
    apply: (live) => applyJsonPatch(live, change, { isLoose }),
    show: (patched) => showPatched(patched, change, custom),
    isCut,
    strictErrors: [...duplicateFields(duplicates), ...unknownMembers(change)].map(
      (text) => `json patch ${text}`,
    ),
  };
}

function mergePatch(body: Buffer, { custom, fieldValidation }: PatchTarget): PatchDocument {
  const {
    value: change,
    duplicates,
    isCut = false,
  } = fieldValidation === 'Ignore' ? parseLoosely(body) : parse(body, strictPrefix);
  if (change === null) throw badMergePatch();
  if (fieldValidation !== 'Ignore') checkIsObject(change, strictPrefix);
  else if (!isObject(change) && !Array.isArray(change)) throw badMergePatch();
  return {
    apply: (live) => applyMergePatch(live, change),
    show: (patched) => showPatched(patched, change, custom),
    isCut,
    strictErrors: duplicateFields(duplicates),
  };
}

/** What upstream says when it decodes a patch to look for mistakes; who ignores these meets the patch libraries. */
const strictPrefix = 'error decoding patch: ';

const badMergePatch = (cause?: unknown): StatusError => badRequest('Invalid JSON Patch', cause);

function parseLoosely(body: Buffer): ParsedJson {
  try {
    return parseJson(body.toString('utf8'));
  } catch (error) {
    if (error instanceof JsonSyntaxError) throw badMergePatch(error);
    throw error;
  }
}

function strategicPatch(body: Buffer, { codec }: PatchTarget): PatchDocument {
  const { value: change, duplicates, isCut = false } = parse(body, '');
  if (change !== null) checkIsObject(change, '');
  return {
    apply: (live) => applyStrategicMergePatch(live, change, codec.schemaName ?? '', loadSchemas()),
    show: () => goFormat(change),
    isCut,
    strictErrors: duplicateFields(duplicates),
  };
}

const duplicateFields = (paths: readonly string[]): string[] =>
  paths.map((path) => `duplicate field "${path}"`);

const operationMembers: ReadonlySet<string> = new Set(['op', 'from', 'path', 'value']);

const unknownMembers = (change: unknown): string[] =>
  !Array.isArray(change)
    ? []
    : change.flatMap((operation: unknown, i) =>
        Object.keys(isObject(operation) ? operation : {})
          .filter((key) => !operationMembers.has(key))
          .map((key) => `unknown field "[${i}].${key}"`),
      );

function parse(body: Buffer, prefix: string): ParsedJson {
  try {
    return parseJson(body.toString('utf8'));
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    throw badRequest(`${prefix}${error.message}`, error);
  }
}

function checkIsObject(change: unknown, prefix: string): void {
  if (isObject(change)) return;
  throw badRequest(
    `${prefix}json: cannot unmarshal ${jsonTypeOf(change)} into Go value of type map[string]interface {}`,
  );
}

/** Without a version, upstream reads the internal type, which knows none of the names that objects have outside. */
function internalObject(patched: unknown): { object: KubeObject; unknown: string[] } {
  const { kind = '', apiVersion: _, ...rest } = patched as { kind?: string; apiVersion?: unknown };
  return {
    object: { kind, apiVersion: '', metadata: { name: '' } },
    unknown: Object.keys(rest).map((name) => `unknown field "${name}"`),
  };
}
