import { badRequest, forbidden, invalidError, notSupported } from '@tinkernetes/apimachinery';
import type { FieldError } from '../contracts';
import type { ResourceRequest } from './context';

export interface ListQuery {
  limit: number;
  continue: string;
  resourceVersion: string;
  resourceVersionMatch: '' | 'Exact' | 'NotOlderThan';
  allowWatchBookmarks: boolean;
  sendInitialEvents: boolean | undefined;
  timeoutSeconds: number | undefined;
}

function integer(request: ResourceRequest, name: string): number | undefined {
  const text = request.query.get(name);
  if (text === null || text === '') return undefined;
  if (!/^[+-]?\d{1,18}$/.test(text)) {
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
  }
  return Number(text);
}

/** As Go's converter reads booleans: anything but false, 0 and nothing is true. */
function boolean(request: ResourceRequest, name: string): boolean | undefined {
  const text = request.query.get(name);
  if (text === null) return undefined;
  return text.toLowerCase() !== 'false' && text !== '0';
}

/** Query parameters of a list or watch, checked as metav1.ValidateListOptions does. */
export function listQuery(request: ResourceRequest, { watch }: { watch: boolean }): ListQuery {
  const { query } = request;
  const parsed: ListQuery = {
    limit: Math.max(0, integer(request, 'limit') ?? 0),
    continue: query.get('continue') ?? '',
    resourceVersion: query.get('resourceVersion') ?? '',
    resourceVersionMatch: (query.get('resourceVersionMatch') ?? '') as ListQuery['resourceVersionMatch'],
    allowWatchBookmarks: boolean(request, 'allowWatchBookmarks') ?? false,
    sendInitialEvents: boolean(request, 'sendInitialEvents'),
    timeoutSeconds: integer(request, 'timeoutSeconds'),
  };
  const errors = watch ? watchErrors(parsed) : listErrors(parsed);
  if (errors.length) throw invalidError({ group: 'meta.k8s.io', kind: 'ListOptions' }, '', errors);
  return parsed;
}

function watchErrors(q: ListQuery): FieldError[] {
  const errors: FieldError[] = [];
  const match: string = q.resourceVersionMatch;
  if (q.sendInitialEvents !== undefined) {
    if (match !== 'NotOlderThan') {
      errors.push(
        forbidden(
          'resourceVersionMatch',
          'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan',
        ),
      );
    }
  } else if (match !== '') {
    errors.push(
      forbidden(
        'resourceVersionMatch',
        'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
      ),
    );
  }
  if (match !== '' && match !== 'NotOlderThan') {
    errors.push(notSupported('resourceVersionMatch', match, ['NotOlderThan']));
  }
  // Upstream blames the match for the token, and only where nothing is said of initial events.
  if (q.continue !== '' && q.sendInitialEvents === undefined) {
    errors.push(
      forbidden('resourceVersionMatch', 'resourceVersionMatch is forbidden when continue is provided'),
    );
  }
  return errors;
}

function listErrors(q: ListQuery): FieldError[] {
  const errors: FieldError[] = [];
  const match: string = q.resourceVersionMatch;
  if (match !== '') {
    if (q.resourceVersion === '') {
      errors.push(
        forbidden(
          'resourceVersionMatch',
          'resourceVersionMatch is forbidden unless resourceVersion is provided',
        ),
      );
    }
    if (q.continue !== '') {
      errors.push(
        forbidden('resourceVersionMatch', 'resourceVersionMatch is forbidden when continue is provided'),
      );
    }
    if (match !== 'Exact' && match !== 'NotOlderThan') {
      errors.push(notSupported('resourceVersionMatch', match, ['Exact', 'NotOlderThan', '']));
    }
    if (match === 'Exact' && q.resourceVersion === '0') {
      errors.push(
        forbidden(
          'resourceVersionMatch',
          'resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
        ),
      );
    }
  }
  if (q.sendInitialEvents !== undefined) {
    errors.push(forbidden('sendInitialEvents', 'sendInitialEvents is forbidden for list'));
  }
  return errors;
}
