import type { KubeObject } from '@tinkernetes/api';
import { canonicalJson, isObject } from '../deep';
import { compare } from './compare';
import type { Conflict } from './conflicts';
import { toFieldSet } from './to-field-set';
import type { Typed } from './typing';
import { isTypable } from './validate-typed';
import type { Configuration } from './configuration';

const annotation = 'kubectl.kubernetes.io/last-applied-configuration';

/**
 * Fields that `kubectl apply` had applied from the client, and that are still as it left them, are no conflict for
 * `kubectl apply --server-side`. Source: apimachinery/pkg/util/managedfields/internal/lastappliedmanager.go.
 */
export function withoutClientSideApply(
  conflicts: readonly Conflict[],
  {
    live,
    options,
    type,
  }: { live: KubeObject; options: { manager: string; apiVersion: string }; type: Typed },
): Conflict[] {
  const text = live.metadata.annotations?.[annotation];
  if (options.manager !== 'kubectl' || !text) return [...conflicts];
  const applied = parseObject(text);
  if (applied?.apiVersion !== options.apiVersion || !isTypable(applied, type)) return [...conflicts];
  const { added, modified, removed } = compare(applied, live, type);
  const allowed = toFieldSet(applied, type).difference(modified).difference(added).difference(removed);
  return conflicts
    .map((conflict) => ({ ...conflict, fields: conflict.fields.difference(allowed) }))
    .filter(({ fields }) => !fields.isEmpty);
}

/** The object with what `kubectl` has applied in the annotation by which it goes on from the client, if it has that. */
export function withLastApplied(object: KubeObject, config: Configuration): KubeObject {
  const { annotations } = object.metadata;
  if (!annotations?.[annotation]) return object;
  const text = `${canonicalJson(withoutAnnotation(config))}\n`;
  return { ...object, metadata: { ...object.metadata, annotations: { ...annotations, [annotation]: text } } };
}

function withoutAnnotation(config: Configuration): Configuration {
  const annotations = config.metadata?.annotations;
  if (!annotations) return config;
  const { [annotation]: _, ...others } = annotations;
  return { ...config, metadata: { ...config.metadata, annotations: others } };
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
