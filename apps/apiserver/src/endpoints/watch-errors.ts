import { StatusError } from '@tinkernetes/apimachinery';

/** The events after `wanted` are no longer kept. */
export const tooOld = (wanted: number, oldest: number): StatusError =>
  new StatusError('Expired', `too old resource version: ${wanted} (${oldest})`);
