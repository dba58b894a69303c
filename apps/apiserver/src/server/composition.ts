import type { KubeObject } from '@tinkernetes/api';
import type { CreateSubresourceHandlers, Strategy, WriteHooks } from '../contracts';
import { tableColumns, tableRowCells } from '../printers/table';
import { createProxyHandlers } from '../proxy';
import { createReviewHandlers } from '../reviews';
import { createTokenHandlers } from '../tokens';
export { createAdmissionChain } from '../admission';
export { createAuthenticators } from '../authentication';
export { createAuthorizer } from '../authorization';
import { definitionStrategy } from '../custom-resources/definition-strategy';
import { strategies as kindStrategies } from '../registry/strategies';
import type { ServedResource } from '../registry/generic/served-resource';

/*
 * The one place that says which parts the server is made of. Interim ones stand here until theirs are committed.
 */

/** Handlers of what the generic endpoints don't know. */
export const createSubresourceHandlers: CreateSubresourceHandlers = (deps) =>
  new Map([...createReviewHandlers(deps), ...createTokenHandlers(deps), ...createProxyHandlers(deps)]);
export const strategies: ReadonlyMap<string, Strategy> = new Map([
  ...kindStrategies,
  ['apiextensions.k8s.io/customresourcedefinitions', definitionStrategy as unknown as Strategy],
]);
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
  const columns = tableColumns(resource.descriptor);
  return {
    kind: 'Table',
    apiVersion: `meta.k8s.io/${options.version}`,
    metadata,
    columnDefinitions: options.noHeaders ? null : columns.map((c) => ({ ...c, description: c.name })),
    rows: objects.map((object) => ({
      cells: tableRowCells(resource.descriptor, resource.strategy, object, options.now),
      object: {
        kind: 'PartialObjectMetadata',
        apiVersion: `meta.k8s.io/${options.version}`,
        metadata: object.metadata,
      },
    })),
  };
}
