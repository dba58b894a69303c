import { readFile } from 'node:fs/promises';
import type { TLSSocket } from 'node:tls';
import { loadTableColumns, type KubeObject } from '@tinkernetes/api';
import type {
  Authenticator,
  CreateAdmissionChain,
  CreateAuthenticators,
  CreateAuthorizer,
  CreateSubresourceHandlers,
  Strategy,
  WriteHooks,
} from '../contracts';
import type { ServedResource } from '../registry/generic/served-resource';

/*
 * The one place that says which parts the server is made of. Interim ones stand here until theirs are committed.
 */

/** Client certificates: CN is the user, O are the groups. */
const clientCertificates: Authenticator = {
  name: 'x509',
  authenticate(request): ReturnType<Authenticator['authenticate']> {
    const socket = request.socket as TLSSocket;
    if (!socket.authorized) return Promise.resolve(undefined);
    const { subject } = socket.getPeerCertificate();
    if (!subject?.CN) return Promise.resolve(undefined);
    const organizations: unknown = subject.O;
    const groups = Array.isArray(organizations)
      ? organizations.map(String)
      : organizations
        ? [String(organizations)]
        : [];
    return Promise.resolve({ user: { name: String(subject.CN), groups } });
  },
};

async function tokenFile(file: string): Promise<Authenticator> {
  const users = new Map(
    (await readFile(file, 'utf8'))
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map((line) => {
        const [token = '', name = '', uid = '', groups = ''] = line.split(/,(?=(?:[^"]*"[^"]*")*[^"]*$)/);
        return [token, { name, uid, groups: groups.replace(/"/g, '').split(',').filter(Boolean) }] as const;
      }),
  );
  return {
    name: 'token-file',
    authenticate(request) {
      const token = /^Bearer\s+(.+)$/i.exec(request.headers.authorization ?? '')?.[1];
      const user = token === undefined ? undefined : users.get(token);
      return Promise.resolve(user && { user });
    },
  };
}

export const createAuthenticators: CreateAuthenticators = async ({ options }) => [
  clientCertificates,
  ...(options.tokenAuthFile ? [await tokenFile(options.tokenAuthFile)] : []),
];

export const createAuthorizer: CreateAuthorizer = () => ({
  name: 'masters',
  authorize: ({ user }) =>
    user.groups.includes('system:masters')
      ? { decision: 'allow', reason: '' }
      : { decision: 'no-opinion', reason: '' },
});

export const createAdmissionChain: CreateAdmissionChain = () => [];
export const createSubresourceHandlers: CreateSubresourceHandlers = () => new Map();
export const strategies: ReadonlyMap<string, Strategy> = new Map();
export const writeHooks: ReadonlyMap<string, WriteHooks> = new Map();

export interface TableOptions {
  now: number;
  includeObject: string;
  version: string;
  noHeaders: boolean;
}

/** A meta.k8s.io Table of the objects. */
export function renderTable(
  resource: ServedResource,
  objects: readonly KubeObject[],
  metadata: object,
  options: TableOptions,
): object {
  const { group, version, resource: plural } = resource.descriptor;
  const path = group ? `/apis/${group}/${version}/${plural}` : `/api/${version}/${plural}`;
  const columns = loadTableColumns()[path] ?? [{ name: 'Name', type: 'string', format: 'name', priority: 0 }];
  return {
    kind: 'Table',
    apiVersion: `meta.k8s.io/${options.version}`,
    metadata,
    columnDefinitions: options.noHeaders ? null : columns.map((c) => ({ ...c, description: c.name })),
    rows: objects.map((object) => ({
      cells: [object.metadata.name, ...(resource.strategy.tableCells?.(object, options.now) ?? [])],
      object: {
        kind: 'PartialObjectMetadata',
        apiVersion: `meta.k8s.io/${options.version}`,
        metadata: object.metadata,
      },
    })),
  };
}
