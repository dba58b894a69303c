import type { KubeObject, ParamKind, ParamRef } from '@tinkernetes/api';
import { selectorOf } from '@tinkernetes/apimachinery';
import type { AdmissionAttributes, StoreRegistry } from '../../contracts';
import { storeOfKind } from '../store-of-kind';

/** A binding that can't be used as it is. */
export class BindingConfigurationError extends Error {
  override readonly name = 'BindingConfigurationError';
}

/**
 * The objects that a policy is evaluated with, one after the other; `[undefined]` for policies without parameters.
 * Source: https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/#parameter-resources
 */
export async function paramsOf(
  stores: StoreRegistry,
  { kind, ref }: { kind: ParamKind | undefined; ref: ParamRef | undefined },
  a: AdmissionAttributes,
): Promise<readonly (KubeObject | undefined)[]> {
  if (!kind || !ref) return [undefined];
  const store = storeOfKind(stores, kind);
  if (!store) {
    throw new BindingConfigurationError(
      `failed to find resource referenced by paramKind: '${kind.apiVersion ?? ''}, Kind=${kind.kind ?? ''}'`,
    );
  }
  const namespace = store.descriptor.namespaced ? (ref.namespace ?? a.namespace) : undefined;
  if (store.descriptor.namespaced && !namespace) {
    throw new BindingConfigurationError(
      'cannot use namespaced paramRef in policy binding that matches cluster-scoped resources',
    );
  }
  const found = ref.name
    ? [store.peek(ref.name, namespace)].filter((o) => o !== undefined)
    : store.list(namespace).filter((o) => selectorOf(ref.selector).matches(o.metadata.labels ?? {}));
  if (found.length > 0) return store.inOwnVersion(found);
  if (ref.parameterNotFoundAction === 'Allow') return [];
  throw new BindingConfigurationError(
    'no params found for policy binding with `Deny` parameterNotFoundAction',
  );
}
