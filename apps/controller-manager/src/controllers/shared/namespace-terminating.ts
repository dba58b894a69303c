import { StatusError } from '@tinkernetes/apimachinery';

/** Nothing can be made in a namespace that is being deleted: no news for whoever tried, and no use in trying again. */
export const isNamespaceTerminating = (error: unknown): boolean =>
  error instanceof StatusError && error.causes.some(({ reason }) => reason === 'NamespaceTerminating');
