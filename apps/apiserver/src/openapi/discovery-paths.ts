import type { ResourceTable } from '../registry/generic/resource-table';
import { groupName, objectTypes, tagOf, type Operation, type Paths } from './operations';

const meta = 'io.k8s.apimachinery.pkg.apis.meta.v1';

const read = (
  operation: Pick<Operation, 'operationId' | 'tag' | 'description'> & Partial<Operation>,
): Record<string, Operation> => ({
  get: { consumes: objectTypes, produces: objectTypes, codes: [200], parameters: [], ...operation },
});

/** What tells of the server rather than of a version's resources: OpenAPI v3 documents' names, with the path in each. */
export function serverPaths(table: ResourceTable): Map<string, Paths> {
  const versions = 'get available API versions';
  const documents: [string, Record<string, Operation>][] = [
    [
      '.well-known/openid-configuration',
      read({
        operationId: 'getServiceAccountIssuerOpenIDConfiguration',
        tag: 'WellKnown',
        description: 'get service account issuer OpenID configuration',
        consumes: [],
        produces: ['application/json'],
      }),
    ],
    [
      'api',
      read({
        operationId: 'getCoreAPIVersions',
        tag: 'core',
        description: versions,
        answer: `${meta}.APIVersions`,
      }),
    ],
    [
      'apis',
      read({
        operationId: 'getAPIVersions',
        tag: 'apis',
        description: versions,
        answer: `${meta}.APIGroupList`,
      }),
    ],
    ...builtInGroups(table).map((group): [string, Record<string, Operation>] => [
      `apis/${group}`,
      read({
        operationId: `get${groupName(group)}APIGroup`,
        tag: tagOf(group, '').slice(0, -1),
        description: 'get information of a group',
        answer: `${meta}.APIGroup`,
      }),
    ]),
    [
      'openid/v1/jwks',
      read({
        operationId: 'getServiceAccountIssuerOpenIDKeyset',
        tag: 'openid',
        description: 'get service account issuer OpenID JSON Web Key Set',
        consumes: [],
        produces: ['application/jwk-set+json'],
      }),
    ],
    [
      'version',
      read({
        operationId: 'getCodeVersion',
        tag: 'version',
        description: 'get the version information for this server',
        consumes: ['application/json'],
        produces: ['application/json'],
        answer: 'io.k8s.apimachinery.pkg.version.Info',
      }),
    ],
  ];
  return new Map(documents.map(([name, operations]) => [name, { [`/${name}/`]: operations }]));
}

function builtInGroups(table: ResourceTable): string[] {
  const groups = new Set<string>();
  for (const { custom, descriptor } of table.all()) if (!custom) groups.add(descriptor.group);
  groups.delete('');
  return [...groups].sort();
}

/** Where a version tells of its resources; nowhere where they are custom ones. */
export function versionPaths(table: ResourceTable): Map<string, Paths> {
  const out = new Map<string, Paths>();
  for (const { custom, descriptor } of table.all()) {
    const { group, version } = descriptor;
    const path = group ? `/apis/${group}/${version}/` : `/api/${version}/`;
    if (custom || out.has(path)) continue;
    const name = groupName(group) + version.charAt(0).toUpperCase() + version.slice(1);
    const operation = read({
      operationId: `get${name}APIResources`,
      tag: tagOf(group, version),
      description: 'get available resources',
      answer: `${meta}.APIResourceList`,
    });
    out.set(path, { [path]: operation });
  }
  return out;
}
