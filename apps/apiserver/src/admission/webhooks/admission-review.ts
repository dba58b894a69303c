import type { KubeObject } from '@tinkernetes/api';
import { StatusError, type StatusReason } from '@tinkernetes/apimachinery';
import type { AdmissionAttributes } from '../../contracts';
import { admissionRequest } from '../admission-request';

export interface AdmissionResponse {
  readonly allowed: boolean;
  readonly status?: { code?: number; message?: string; reason?: string };
  readonly patch: unknown;
  readonly warnings: readonly string[];
}

const optionsKinds = { CREATE: 'CreateOptions', UPDATE: 'UpdateOptions', DELETE: 'DeleteOptions' } as const;

/** The question. https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#request */
export function reviewOf(a: AdmissionAttributes, uid: string): object {
  const options =
    a.operation === 'CONNECT'
      ? null
      : { kind: optionsKinds[a.operation], apiVersion: 'meta.k8s.io/v1', ...a.options };
  return {
    kind: 'AdmissionReview',
    apiVersion: 'admission.k8s.io/v1',
    request: {
      uid,
      ...admissionRequest(a),
      object: withType(a.object, a),
      oldObject: withType(a.oldObject, a),
      options,
    },
  };
}

function withType(
  object: KubeObject | undefined,
  { group, version, kind }: AdmissionAttributes,
): object | null {
  if (!object) return null;
  return { kind, apiVersion: group ? `${group}/${version}` : version, ...object };
}

/** The answer, checked. Throws an Error that says what is wrong with it. */
export function responseOf(answer: unknown, uid: string): AdmissionResponse {
  const { kind, apiVersion, response } = (answer ?? {}) as {
    kind?: string;
    apiVersion?: string;
    response?: Record<string, unknown>;
  };
  if (kind !== 'AdmissionReview' || apiVersion !== 'admission.k8s.io/v1') {
    throw new Error(
      `expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got ${apiVersion ?? ''}, Kind=${kind ?? ''}`,
    );
  }
  if (!response) throw new Error('webhook response was absent');
  if (response.uid !== uid) {
    throw new Error(`expected response.uid="${uid}", got "${String(response.uid ?? '')}"`);
  }
  const { patch, patchType } = response as { patch?: string; patchType?: string };
  if (patch && patchType !== 'JSONPatch')
    throw new Error('webhook returned response.patch but not response.patchType');
  return {
    allowed: response.allowed === true,
    status: response.status as AdmissionResponse['status'],
    patch: patch ? JSON.parse(Buffer.from(patch, 'base64').toString('utf8')) : undefined,
    warnings: Array.isArray(response.warnings) ? response.warnings.map(String) : [],
  };
}

/** Source: k8s.io/apiserver/pkg/admission/plugin/webhook/errors.ToStatusErr. */
export function denied(name: string, { status = {} }: AdmissionResponse): StatusError {
  const by = `admission webhook "${name}" denied the request`;
  const explanation = status.message || status.reason;
  return new StatusError(
    (status.reason || 'Unknown') as StatusReason,
    explanation ? `${by}: ${explanation}` : `${by} without explanation`,
    { code: Math.max(status.code ?? 0, 400) },
  );
}
