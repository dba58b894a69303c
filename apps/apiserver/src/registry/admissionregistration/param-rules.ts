import type { ParamKind, ParamRef } from '@tinkernetes/api';
import {
  child,
  forbidden,
  invalid,
  isDns1035Label,
  isDns1123Subdomain,
  isPathSegmentName,
  required,
} from '@tinkernetes/apimachinery';
import { validateLabelSelector } from '../pod-spec/label-selectors';
import { check, requireOneOf } from '../rules';
import type { Errors } from '../rules';

/** Source: admissionregistration/validation.validateParamKind. */
export function validateParamKind(param: ParamKind | undefined): Errors {
  if (!param) return [];
  const { apiVersion = '', kind = '' } = param;
  const path = 'spec.paramKind';
  const versionPath = child(path, 'apiVersion');
  const kindPath = child(path, 'kind');
  const parts = apiVersion.split('/');
  const version = parts.at(-1) ?? '';
  return [
    ...(apiVersion === ''
      ? [required(versionPath)]
      : parts.length > 2
        ? [invalid(versionPath, apiVersion, `unexpected GroupVersion string: ${apiVersion}`)]
        : [
            ...isDns1035Label(version).map((text) => invalid(versionPath, version, text)),
            ...(parts.length > 1 && parts[0] ? check(versionPath, parts[0], isDns1123Subdomain) : []),
          ]),
    ...(kind === ''
      ? [required(kindPath)]
      : isDns1035Label(kind.toLowerCase()).map((text) =>
          invalid(kindPath, kind, `may have mixed case, but should otherwise match: ${text}`),
        )),
  ];
}

/** Source: admissionregistration/validation.validateParamRef. */
export function validateParamRef(ref: ParamRef | undefined): Errors {
  if (!ref) return [];
  const path = 'spec.paramRef';
  const errors: Errors = [];
  if (ref.name) errors.push(...check(child(path, 'name'), ref.name, isPathSegmentName));
  if (ref.name && ref.selector) {
    const detail = 'name and selector are mutually exclusive';
    errors.push(forbidden(child(path, 'name'), detail), forbidden(child(path, 'selector'), detail));
  }
  errors.push(...validateLabelSelector(ref.selector, child(path, 'selector')));
  if (!ref.name && !ref.selector) errors.push(required(path, 'one of name or selector must be specified'));
  const at = child(path, 'parameterNotFoundAction');
  return [...errors, ...requireOneOf(at, ref.parameterNotFoundAction, ['Deny', 'Allow'])];
}

export const kindText = (kind: ParamKind | undefined): string =>
  kind ? `${kind.apiVersion}/${kind.kind}` : '<unset>';
export function refText(ref: ParamRef | undefined): string {
  if (!ref) return '<unset>';
  if (ref.name) return ref.namespace ? `${ref.namespace}/${ref.name}` : `*/${ref.name}`;
  return ref.selector ? '*' : '<unset>';
}
