import type { CustomResourceColumnDefinition, KubeObject } from '@tinkernetes/api';
import { badRequest } from '@tinkernetes/apimachinery';
import { tableColumns, tableRowCells } from '../printers/table';
import { since } from '../printers/duration';
import { valuesAtJsonPath } from '../custom-resources/json-path';
import type { ServedResource } from '../registry/generic/served-resource';
import { shownMetadata } from './shown-metadata';

export interface TableOptions {
  now: number;
  /** `None`, `Metadata` or `Object`: what each row carries besides its cells. */
  includeObject: string;
  /** Of meta.k8s.io. */
  version: string;
  /** In a watch only the first Table has columns. */
  noHeaders: boolean;
}

/** The query's includeObject; throws 400 for what is none. */
export function includeObjectOf(query: URLSearchParams): string {
  const value = query.get('includeObject') ?? '';
  if (value === '') return 'Metadata';
  if (['None', 'Metadata', 'Object'].includes(value)) return value;
  throw badRequest(
    `Unable to convert to Table as requested: includeObject: Invalid value: ${JSON.stringify(value)}: must be 'Metadata', 'Object', 'None', or empty`,
  );
}

/** A meta.k8s.io Table. Source: https://kubernetes.io/docs/reference/using-api/api-concepts/#receiving-resources-as-tables */
export function renderTable(
  resource: ServedResource,
  objects: readonly KubeObject[],
  metadata: object,
  options: TableOptions,
): object {
  return {
    kind: 'Table',
    apiVersion: `meta.k8s.io/${options.version}`,
    metadata,
    columnDefinitions: options.noHeaders ? null : columnsOf(resource),
    rows: objects.map((object) => tableRow(resource, object, options)),
  };
}

export function tableRow(resource: ServedResource, object: KubeObject, options: TableOptions): object {
  return { ...tableRowHead(resource, object, options), object: rowObject(resource, object, options) };
}

/** What comes before a row's object: the cells. */
export function tableRowHead(
  resource: ServedResource,
  object: KubeObject,
  { now }: Pick<TableOptions, 'now'>,
): { cells: readonly unknown[]; conditions?: readonly object[] } {
  const cells = cellsOf(resource, object, now);
  const conditions = resource.strategy.rowConditions?.(object) ?? [];
  return conditions.length > 0 ? { cells, conditions } : { cells };
}

const nameColumn = {
  name: 'Name',
  type: 'string',
  format: 'name',
  description: 'Name of the object',
  priority: 0,
};
const ageColumn: CustomResourceColumnDefinition = {
  name: 'Age',
  type: 'date',
  jsonPath: '.metadata.creationTimestamp',
};

function columnsOf(resource: ServedResource): object[] {
  if (!resource.custom) {
    return tableColumns(resource.descriptor).map(({ name, type, format, priority }) => {
      return { name, type, format, description: name, priority };
    });
  }
  const columns = (resource.columns ?? [ageColumn]).map(
    ({ name, type, format = '', description, priority = 0 }) => ({
      name,
      type,
      format,
      description: description ?? `Custom resource definition column (in JSONPath format): ${name}`,
      priority,
    }),
  );
  return [nameColumn, ...columns];
}

function cellsOf(resource: ServedResource, object: KubeObject, now: number): readonly unknown[] {
  if (!resource.custom) return tableRowCells(resource.descriptor, resource.strategy, object, now);
  return [
    object.metadata.name,
    ...(resource.columns ?? [ageColumn]).map((column) => customCell(object, column, now)),
  ];
}

function customCell(
  object: KubeObject,
  { type, jsonPath }: CustomResourceColumnDefinition,
  now: number,
): unknown {
  const [value] = valuesAtJsonPath(object, jsonPath);
  if (value === undefined || value === null) return null;
  switch (type) {
    case 'integer':
      return typeof value === 'number' ? Math.trunc(value) : null;
    case 'number':
      return typeof value === 'number' ? value : null;
    case 'boolean':
      return typeof value === 'boolean' ? value : null;
    case 'date':
      return typeof value === 'string' ? since(value, now) : '<unknown>';
    default:
      return typeof value === 'string' ? value : JSON.stringify(value);
  }
}

function rowObject(
  resource: ServedResource,
  object: KubeObject,
  { includeObject, version }: TableOptions,
): object | null {
  switch (includeObject) {
    case 'None':
      return null;
    case 'Object':
      return object;
    default:
      return {
        kind: 'PartialObjectMetadata',
        apiVersion: `meta.k8s.io/${version}`,
        metadata: shownMetadata(resource, object),
      };
  }
}
