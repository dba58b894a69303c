import type { ObjectMeta } from '@tinkernetes/api';
import { isQualifiedName, goQuote } from '@tinkernetes/apimachinery';

const standard = ['orphan', 'foregroundDeletion', 'kubernetes'];

/** Finalizers that another controller might take for its own; an update speaks only of new ones. */
export function finalizerWarnings(metadata: ObjectMeta, old: ObjectMeta | undefined): string[] {
  const added = (metadata.finalizers ?? []).filter((name) => !old?.finalizers?.includes(name));
  return [...new Set(added)].sort().flatMap((name) => {
    const at = `metadata.finalizers: ${goQuote(name)}`;
    const warnings = isQualifiedName(name).map((message) => `${at}: ${message}`);
    if (name.includes('/') || standard.includes(name)) return warnings;
    const wanted = name.includes('.')
      ? 'prefer a domain-qualified finalizer name including a path (/)'
      : 'prefer a domain-qualified finalizer name';
    return [...warnings, `${at}: ${wanted} to avoid accidental conflicts with other finalizer writers`];
  });
}
