import { deepEqual, isObject } from '@tinkernetes/apimachinery';
import type { RemoteApi } from './aggregator';
import { understood, type RemoteDocument, type RemoteDocuments } from './remote-documents';

/** `apis/GROUP/VERSION` of an aggregated API, as OpenAPI v3 names its document. */
export const openApiPath = ({ service: { spec } }: RemoteApi): string =>
  `apis/${spec.group ?? ''}/${spec.version ?? ''}`;

/** Where the document of an aggregated API is, as its server's own index says; undefined where it says nothing. */
export async function remoteIndexEntry(
  documents: RemoteDocuments,
  remote: RemoteApi,
): Promise<object | undefined> {
  const { document } = await documents.get(remote, '/openapi/v3', 'application/json');
  if (!document) return undefined;
  return understood(
    document,
    (json) => (json as { paths?: Record<string, object> }).paths?.[openApiPath(remote)],
  );
}

/** An aggregated API's own OpenAPI v3 document. */
export async function remoteOpenApiV3(
  documents: RemoteDocuments,
  remote: RemoteApi,
): Promise<RemoteDocument | undefined> {
  const path = `/openapi/v3/${openApiPath(remote)}`;
  return (await documents.get(remote, path, 'application/json')).document;
}

interface Swagger {
  paths?: Record<string, unknown>;
  definitions?: Record<string, unknown>;
}

const prefix = '#/definitions/';

/**
 * The OpenAPI v2 document with the paths of aggregated APIs and what they refer to. A definition of the same name but
 * other content comes under another. Source: kube-openapi/pkg/aggregator.
 */
export async function withRemoteSpecs<T extends object>(
  own: T,
  documents: RemoteDocuments,
  remotes: Iterable<RemoteApi>,
): Promise<T> {
  let merged = own as T & Swagger;
  for (const remote of remotes) {
    const { document } = await documents.get(remote, '/openapi/v2', 'application/json');
    if (!document) continue;
    const before = merged;
    merged = understood(document, (json) => merge(before, json as Swagger, remote)) ?? before;
  }
  return merged;
}

function merge<T extends Swagger>(own: T, { paths = {}, definitions = {} }: Swagger, remote: RemoteApi): T {
  const base = `/${openApiPath(remote)}`;
  const ours = Object.entries(paths).filter(([path]) => path === base || path.startsWith(`${base}/`));
  const used = closure(
    ours.map(([, value]) => value),
    definitions,
  );
  const names = new Map(
    [...used].map((name) => [name, freeName(name, definitions[name], own.definitions ?? {})] as const),
  );
  const renamed = (value: unknown) => withReferences(value, names);
  return {
    ...own,
    paths: { ...own.paths, ...Object.fromEntries(ours.map(([path, value]) => [path, renamed(value)])) },
    definitions: {
      ...own.definitions,
      ...Object.fromEntries([...names].map(([name, to]) => [to, renamed(definitions[name])])),
    },
  };
}

function freeName(name: string, definition: unknown, taken: Readonly<Record<string, unknown>>): string {
  let candidate = name;
  for (let n = 2; taken[candidate] !== undefined && !deepEqual(taken[candidate], definition); n++) {
    candidate = `${name}_v${n}`;
  }
  return candidate;
}

/** All definitions that values refer to, directly or not. */
function closure(values: readonly unknown[], definitions: Readonly<Record<string, unknown>>): Set<string> {
  const out = new Set<string>();
  const pending: unknown[] = [...values];
  while (pending.length) {
    const value = pending.pop();
    if (Array.isArray(value)) pending.push(...(value as unknown[]));
    else if (isObject(value)) {
      for (const [key, inner] of Object.entries(value)) {
        if (key !== '$ref' || typeof inner !== 'string') pending.push(inner);
        else if (inner.startsWith(prefix)) {
          const name = inner.slice(prefix.length);
          if (!out.has(name) && definitions[name] !== undefined) pending.push(definitions[name]);
          out.add(name);
        }
      }
    }
  }
  return out;
}

function withReferences(value: unknown, names: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(value)) return value.map((inner) => withReferences(inner, names));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      const name =
        key === '$ref' && typeof inner === 'string' ? names.get(inner.slice(prefix.length)) : undefined;
      return [key, name === undefined ? withReferences(inner, names) : prefix + name];
    }),
  );
}
