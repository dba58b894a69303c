import { StatusError } from '@tinkernetes/apimachinery';
import { unsupportedMediaType } from '../server/decode-body';
import type { ResourceRequest } from './context';

/** Media types of patches. */
export const patchMediaTypes = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
} as const;
export type PatchType = keyof typeof patchMediaTypes;

const types = Object.keys(patchMediaTypes) as PatchType[];

/** What upstream's router answers to a body in a form that no route takes. */
export const noSuchBody = (): StatusError =>
  new StatusError('UnsupportedMediaType', '415: Unsupported Media Type', { details: {} });

/** By Content-Type. Throws 415; custom resources take no strategic patches. */
export function patchType({ raw, resource }: ResourceRequest): PatchType {
  const mediaType = (raw.headers['content-type'] ?? '').split(';')[0]?.trim() ?? '';
  const found = types.find((type) => patchMediaTypes[type] === mediaType);
  if (found && !(resource.custom && found === 'strategic')) return found;
  if (!resource.custom) throw noSuchBody();
  throw unsupportedMediaType(
    types.filter((type) => type !== 'strategic').map((type) => patchMediaTypes[type]),
  );
}
