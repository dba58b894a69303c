import { StatusError } from '@tinkernetes/apimachinery';
import { unsupportedMediaType } from '../server/decode-body';
import type { ResourceRequest } from './context';

const mediaTypes = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
} as const;
export type PatchType = keyof typeof mediaTypes;

const types = Object.keys(mediaTypes) as PatchType[];

/** By Content-Type. Throws 415; custom resources take no strategic patches. */
export function patchType({ raw, resource }: ResourceRequest): PatchType {
  const mediaType = (raw.headers['content-type'] ?? '').split(';')[0]?.trim() ?? '';
  const found = types.find((type) => mediaTypes[type] === mediaType);
  if (found && !(resource.custom && found === 'strategic')) return found;
  if (!resource.custom)
    throw new StatusError('UnsupportedMediaType', '415: Unsupported Media Type', { details: {} });
  throw unsupportedMediaType(types.filter((type) => type !== 'strategic').map((type) => mediaTypes[type]));
}
