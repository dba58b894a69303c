import {
  badRequest,
  invalid,
  invalidError,
  notSupported,
  notNegativeMessage,
} from '@tinkernetes/apimachinery';
import { decoderOf, TypeMismatchError } from '../codec/type-decoder';
import type { FieldError } from '../contracts';
import type { DeleteRequest } from '../registry/generic/deletion';
import { readBody } from '../server/body';
import { bodyFormat, parseBody } from '../server/decode-body';
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
  const errors = errorsOf(options);
  if (errors.length) throw invalidError({ group: 'meta.k8s.io', kind: 'DeleteOptions' }, '', errors);
  return { ...options, dryRun: (options.dryRun ?? []).length > 0, raw: { ...options } };
}

function fromBody(body: Buffer, request: ResourceRequest): Options {
  const format = bodyFormat(request.raw.headers['content-type']);
  const { value } = parseBody(body, format, 'DeleteOptions');
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
    throw badRequest(
      `DeleteOptions in version "v1" cannot be handled as a DeleteOptions: ${error.message}`,
      error,
    );
  }
}

function fromQuery({ query }: ResourceRequest): Options {
  const grace = query.get('gracePeriodSeconds');
  const orphan = query.get('orphanDependents');
  const policy = query.get('propagationPolicy');
  const dryRun = query.getAll('dryRun');
  if (grace !== null && !/^-?\d+$/.test(grace)) {
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(grace)}: invalid syntax`);
  }
  return {
    ...(grace === null ? undefined : { gracePeriodSeconds: Number(grace) }),
    ...(orphan === null ? undefined : { orphanDependents: orphan !== 'false' && orphan !== '0' }),
    ...(policy === null ? undefined : { propagationPolicy: policy }),
    ...(dryRun.length ? { dryRun } : undefined),
  };
}

function errorsOf(options: Options): FieldError[] {
  const errors: FieldError[] = [];
  const { orphanDependents, propagationPolicy, gracePeriodSeconds } = options;
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
  if (gracePeriodSeconds !== undefined && gracePeriodSeconds < 0 && gracePeriodSeconds !== -1) {
    errors.push(invalid('gracePeriodSeconds', gracePeriodSeconds, notNegativeMessage));
  }
  errors.push(...dryRunErrors(options.dryRun ?? []));
  return errors;
}
