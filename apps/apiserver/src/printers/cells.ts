import type { Container, KubeObject } from '@tinkernetes/api';
import { since } from './duration';

/** Parts of Table cells that several kinds share. */
export const age = (object: KubeObject, now: number): string => since(object.metadata.creationTimestamp, now);

export const containerNames = (containers: readonly Container[] | undefined): string =>
  (containers ?? []).map((container) => container.name).join(',');

export const containerImages = (containers: readonly Container[] | undefined): string =>
  (containers ?? []).map((container) => container.image ?? '').join(',');

export const orNone = (text: string | undefined): string => text || '<none>';
export const orUnset = (text: string | undefined): string => text || '<unset>';

/** `a=b,c=d`, sorted by key; `<none>` for no labels. */
export function formatLabels(labels: Readonly<Record<string, string>> | undefined): string {
  const pairs = Object.entries(labels ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  return pairs.length === 0 ? '<none>' : pairs.map(([key, value]) => `${key}=${value}`).join(',');
}
