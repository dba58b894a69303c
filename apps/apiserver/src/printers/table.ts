import { apiPathOf, loadTableColumns } from '@tinkernetes/api';
import type { KubeObject, ResourceDescriptor, TableColumnFact } from '@tinkernetes/api';
import type { Strategy } from '../contracts';
import { since } from './duration';

const nameColumn: TableColumnFact = { name: 'Name', type: 'string', format: 'name', priority: 0 };
const createdColumn: TableColumnFact = { name: 'Created At', type: 'date', format: '', priority: 0 };

/** As Go writes a time that is not set. */
const zeroTime = '0001-01-01T00:00:00Z';

/** The columns of a resource's Table; kinds without columns of their own show name and time of creation. */
export function tableColumns(descriptor: ResourceDescriptor): readonly TableColumnFact[] {
  const columns = loadTableColumns();
  const path = `${apiPathOf(descriptor)}/${descriptor.resource}`;
  return Object.hasOwn(columns, path) ? (columns[path] ?? []) : [nameColumn, createdColumn];
}

/** The cells of one row, one for each of `tableColumns`. */
export function tableRowCells(
  descriptor: ResourceDescriptor,
  strategy: Strategy,
  object: KubeObject,
  now: number,
): readonly unknown[] {
  if (strategy.tableCells) return strategy.tableCells(object, now);
  return tableColumns(descriptor).map((column) => {
    if (column.format === 'name') return object.metadata.name;
    if (column.type === 'date') return object.metadata.creationTimestamp ?? zeroTime;
    return column.name === 'Age' ? since(object.metadata.creationTimestamp, now) : '';
  });
}
