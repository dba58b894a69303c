import { badRequest, invalid, invalidError, notSupported } from '@tinkernetes/apimachinery';
import { int64Problem } from '../codec/go-integers';
import { JsonSyntaxError } from '../codec/json-syntax-error';
import { parseJson } from '../codec/json-reader';
import { decoderOf } from '../codec/type-decoder';
import { TypeMismatchError } from '../codec/decode-state';
import type { FieldError } from '../contracts';
import type { DeleteRequest } from '../registry/generic/deletion';
import { readBody } from '../server/body';
import { bodyFormat, parseBody, typeMetaProblem, type BodyFormat } from '../server/decode-body';
import type { EndpointContext, ResourceRequest } from './context';
import { dryRunErrors } from './write-options';

export interface DeleteCall extends DeleteRequest {
  dryRun: boolean;
  /** As admission sees them. */
  raw: Readonly<Record<string, unknown>>;
}

const schemaName = 'io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions';
const policies = ['Foreground', 'Background', 'Orphan'];

interface Options extends DeleteRequest {
  dryRun?: string[];
}

/** DeleteOptions from the body or, without one, from the query. */
export async function readDeleteOptions(
  context: EndpointContext,
  request: ResourceRequest,
): Promise<DeleteCall> {
  const body = await readBody(request.raw, context.options.maxRequestBodyBytes);
  const options = body.length ? fromBody(body, request) : fromQuery(request);
  checkDeleteOptions(options);
  const { unspecifiedPropagationWarning } = request.resource.strategy;
  if (options.propagationPolicy === undefined && options.orphanDependents === undefined)
    request.warn(unspecifiedPropagationWarning ?? '');
  return { ...options, dryRun: (options.dryRun ?? []).length > 0, raw: { ...options } };
}

function fromBody(body: Buffer, request: ResourceRequest): Options {
  const format = bodyFormat(request.raw.headers['content-type']);
  const value = parsed(body, format);
  const kind = (value as { kind?: unknown } | null)?.kind;
  if (kind !== undefined && kind !== 'DeleteOptions' && kind !== '') {
    const { apiVersion } = value as { apiVersion?: unknown };
    throw badRequest(
      `no kind "${String(kind)}" is registered for version "${String(apiVersion)}" in scheme "pkg/runtime/scheme.go:111"`,
    );
  }
  try {
    return decoderOf(schemaName)(value ?? {}, { struct: '', path: [], sawUnknown: false }) as Options;
  } catch (error) {
    if (!(error instanceof TypeMismatchError)) throw error;
    throw badRequest(error.message, error);
  }
}

/** Options are nobody's kind: what is wrong with them is told without saying of which. */
function parsed(body: Buffer, format: BodyFormat): unknown {
  if (format !== 'json') return parseBody(body, format, 'DeleteOptions').value;
  const unreadable = (reason: string, cause?: unknown) =>
    badRequest(`couldn't get version/kind; json parse error: ${reason}`, cause);
  try {
    const { value } = parseJson(body.toString('utf8'));
    const problem = typeMetaProblem(value);
    if (problem) throw unreadable(`json: cannot unmarshal ${problem}`);
    return value;
  } catch (error) {
    throw error instanceof JsonSyntaxError ? unreadable(error.message, error) : error;
  }
}

function fromQuery({ query }: ResourceRequest): Options {
  const grace = query.get('gracePeriodSeconds');
  const orphan = query.get('orphanDependents');
  const policy = query.get('propagationPolicy');
  const dryRun = query.getAll('dryRun');
  const problem = grace === null ? undefined : int64Problem(grace);
  if (problem) throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(grace)}: ${problem}`);
  const [uid, resourceVersion] = [query.get('uid') ?? '', query.get('resourceVersion') ?? ''];
  const preconditions = {
    ...(uid ? { uid } : undefined),
    ...(resourceVersion ? { resourceVersion } : undefined),
  };
  return {
    ...(uid || resourceVersion ? { preconditions } : undefined),
    ...(grace === null ? undefined : { gracePeriodSeconds: Number(grace) }),
    ...(orphan === null ? undefined : { orphanDependents: orphan !== 'false' && orphan !== '0' }),
    ...(policy === null ? undefined : { propagationPolicy: policy }),
    ...(dryRun.length ? { dryRun } : undefined),
  };
}

/** Throws where the options say what they cannot say. Source: apimachinery metav1 validation.ValidateDeleteOptions. */
export function checkDeleteOptions(options: Options): void {
  const errors: FieldError[] = [];
  const { orphanDependents, propagationPolicy } = options;
  if (orphanDependents !== undefined && propagationPolicy !== undefined) {
    errors.push(
      invalid(
        'propagationPolicy',
        propagationPolicy,
        'orphanDependents and deletionPropagation cannot be both set',
      ),
    );
  }
  if (propagationPolicy !== undefined && !policies.includes(propagationPolicy)) {
    errors.push(notSupported('propagationPolicy', propagationPolicy, [...policies, 'nil']));
  }
  errors.push(...dryRunErrors(options.dryRun ?? []));
  if (errors.length) throw invalidError({ group: 'meta.k8s.io', kind: 'DeleteOptions' }, '', errors);
}
