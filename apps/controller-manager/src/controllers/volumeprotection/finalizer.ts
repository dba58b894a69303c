import type { KubeObject } from '@tinkernetes/api';

/** The object with the finalizer; the same object when it has it. */
export function withFinalizer<T extends KubeObject>(object: T, finalizer: string): T {
  const finalizers = object.metadata.finalizers ?? [];
  if (finalizers.includes(finalizer)) return object;
  return { ...object, metadata: { ...object.metadata, finalizers: [...finalizers, finalizer] } };
}

/** The object without the finalizer; the same object when it has none. */
export function withoutFinalizer<T extends KubeObject>(object: T, finalizer: string): T {
  const finalizers = object.metadata.finalizers ?? [];
  if (!finalizers.includes(finalizer)) return object;
  return {
    ...object,
    metadata: { ...object.metadata, finalizers: finalizers.filter((f) => f !== finalizer) },
  };
}
