import { StatusError } from '@tinkernetes/apimachinery';
import type { Endpoint } from './context';
import { patchQuery } from './write-options';

/** Server-side apply. Source: https://kubernetes.io/docs/reference/using-api/server-side-apply/ */
export const apply: Endpoint = (_context, request) => {
  patchQuery(request, { apply: true });
  return Promise.reject(new StatusError('UnsupportedMediaType', 'apply patches are not served yet'));
};
