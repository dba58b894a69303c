import type { StatusCause } from '@tinkernetes/api';
import { StatusError } from './status-error';
import { goQuote } from './validation/go-quote';
import type { FieldErrors } from './validation/field-error';

/** A resource or kind with its group; `''` is the core group. */
export interface GroupResource {
  readonly group: string;
  readonly resource: string;
}
export interface GroupKind {
  readonly group: string;
  readonly kind: string;
}

/** `deployments.apps`, or `pods` in the core group. */
const qualifiedResource = ({ group, resource }: GroupResource): string =>
  group === '' ? resource : `${resource}.${group}`;
const qualifiedKind = ({ group, kind }: GroupKind): string => (group === '' ? kind : `${kind}.${group}`);

const detailsOf = ({ group, resource }: GroupResource, name: string) => ({
  ...(name === '' ? {} : { name }),
  ...(group === '' ? {} : { group }),
  kind: resource,
});

/** Answers in upstream's words. Source: k8s.io/apimachinery/pkg/api/errors. */
export const notFound = (resource: GroupResource, name: string): StatusError =>
  new StatusError('NotFound', `${qualifiedResource(resource)} ${goQuote(name)} not found`, {
    details: detailsOf(resource, name),
  });

export const alreadyExists = (resource: GroupResource, name: string): StatusError =>
  new StatusError('AlreadyExists', `${qualifiedResource(resource)} ${goQuote(name)} already exists`, {
    details: detailsOf(resource, name),
  });

/** A generated name met an existing object on every attempt. */
export const generateNameConflict = (resource: GroupResource, name: string): StatusError =>
  new StatusError(
    'AlreadyExists',
    `${qualifiedResource(resource)} ${goQuote(name)} already exists, the server was not able to generate a unique name for the object`,
    { details: { ...detailsOf(resource, name), retryAfterSeconds: 1 } },
  );

const optimisticLockMessage =
  'the object has been modified; please apply your changes to the latest version and try again';

export const conflict = (
  resource: GroupResource,
  name: string,
  reason: string = optimisticLockMessage,
): StatusError =>
  new StatusError(
    'Conflict',
    `Operation cannot be fulfilled on ${qualifiedResource(resource)} ${goQuote(name)}: ${reason}`,
    { details: detailsOf(resource, name) },
  );

export const forbiddenError = (resource: GroupResource, name: string, reason: string): StatusError => {
  const target = qualifiedResource(resource);
  const text =
    target === ''
      ? `forbidden: ${reason}`
      : name === ''
        ? `${target} is forbidden: ${reason}`
        : `${target} ${goQuote(name)} is forbidden: ${reason}`;
  return new StatusError('Forbidden', text, { details: detailsOf(resource, name) });
};

/** All field errors of one object. The text has each error once, in brackets when there are several. */
export function invalidError(kind: GroupKind, name: string, errors: FieldErrors): StatusError {
  const texts = [...new Set(errors.map((error) => `${error.field}: ${error.message}`))];
  const list = texts.length === 1 ? (texts[0] ?? '') : `[${texts.join(', ')}]`;
  const causes: StatusCause[] = errors.map(({ reason, message, field }) => ({ reason, message, field }));
  return new StatusError('Invalid', `${qualifiedKind(kind)} ${goQuote(name)} is invalid: ${list}`, {
    details: {
      ...(name === '' ? {} : { name }),
      ...(kind.group === '' ? {} : { group: kind.group }),
      ...(kind.kind === '' ? {} : { kind: kind.kind }),
      causes,
    },
  });
}

export const badRequest = (message: string, cause?: unknown): StatusError =>
  new StatusError('BadRequest', message, { cause });

export const unauthorized = (message = 'Unauthorized'): StatusError =>
  new StatusError('Unauthorized', message);

export const expired = (message: string): StatusError => new StatusError('Expired', message);

export const internalServerError = (error: unknown): StatusError => {
  const text = error instanceof Error ? error.message : String(error);
  return new StatusError('InternalError', `Internal error occurred: ${text}`, {
    details: { causes: [{ message: text }] },
    cause: error,
  });
};

export const serviceUnavailable = (message: string): StatusError =>
  new StatusError('ServiceUnavailable', message);

export const requestEntityTooLarge = (message: string): StatusError =>
  new StatusError('RequestEntityTooLarge', `Request entity too large: ${message}`);
