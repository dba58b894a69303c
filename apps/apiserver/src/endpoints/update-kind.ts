import { subresourceRules } from '../registry/generic/subresource-rules';
import type { UpdateKind } from '../registry/generic/update-rules';
import type { ResourceRequest } from './context';

/** Whose rules the request's write follows; undefined where its subresource can't be written. */
export function updateKindOf({ resource, info }: ResourceRequest): UpdateKind | undefined {
  if (info.subresource === '') return 'main';
  if (info.subresource === 'status') return 'status';
  return subresourceRules(resource, info.subresource);
}
