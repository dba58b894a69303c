import { StatusError } from '@tinkernetes/apimachinery';
import { noSuchBody, patchMediaTypes } from './patch-type';

const objectTypes = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'];
const listTypes = [
  ...objectTypes,
  'application/json;stream=watch',
  'application/vnd.kubernetes.protobuf;stream=watch',
];
const patchTypes: readonly string[] = Object.values(patchMediaTypes);

/**
 * What upstream's router refuses before any handler sees the request: patches in forms that no route takes, and who
 * accepts nothing of what the route can answer. Source: go-restful jsr311.go detectRoute.
 */
export function checkRouteMediaTypes(
  method: string,
  headers: { accept?: string; 'content-type'?: string },
  { isList }: { isList: boolean },
): void {
  if (
    method === 'PATCH' &&
    !mediaTypesIn(headers['content-type']).some((type) => patchTypes.includes(type))
  ) {
    throw noSuchBody();
  }
  checkAccepted(headers.accept, isList ? listTypes : objectTypes);
}

/** Throws 406 where nothing that is accepted is among what can be answered. */
export function checkAccepted(accept: string | undefined, produced: readonly string[]): void {
  if (!accept || produced[0] === accept) return;
  if (mediaTypesIn(accept).some((type) => type === '*/*' || produced.includes(type))) return;
  const message = `406: Not Acceptable\n\nAvailable representations: ${produced.join(', ')}`;
  throw new StatusError('NotAcceptable', message, { details: {} });
}

/** Without their parameters. */
const mediaTypesIn = (header = ''): string[] =>
  header.split(',').map((part) => part.split(';', 1)[0]?.trim() ?? '');
