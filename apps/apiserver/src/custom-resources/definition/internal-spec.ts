import type { CustomResourceDefinition, CustomResourceDefinitionVersion } from '@tinkernetes/api';
import { deepEqual } from '@tinkernetes/apimachinery';
import { internalSchema } from './internal-schema';

type Shared = 'schema' | 'subresources' | 'additionalPrinterColumns' | 'selectableFields';

/** A part of a definition, with the place where mistakes in it are told. */
interface Placed<T> {
  readonly path: string;
  readonly value: T;
  readonly version: CustomResourceDefinitionVersion;
}

const names: Readonly<Record<Shared, string>> = {
  schema: 'validation',
  subresources: 'subresources',
  additionalPrinterColumns: 'additionalPrinterColumns',
  selectableFields: 'selectableFields',
};

/**
 * One of the parts that versions have, each with its path in upstream's internal form: what all versions have alike is
 * there once, at the top. Source: apiextensions/v1 conversion.go.
 */
export function partsOf<P extends Shared>(
  { spec }: CustomResourceDefinition,
  part: P,
): Placed<NonNullable<CustomResourceDefinitionVersion[P]>>[] {
  type Part = NonNullable<CustomResourceDefinitionVersion[P]>;
  const { versions } = spec;
  const [first] = versions;
  if (!first) return [];
  const isShared = isSameInAll(versions, part);
  const placed = (version: CustomResourceDefinitionVersion, path: string): Placed<Part>[] =>
    version[part] === undefined ? [] : [{ path, value: version[part] as Part, version }];
  if (isShared) return placed(first, `spec.${names[part]}`);
  return versions.flatMap((version, i) => placed(version, `spec.versions[${i}].${part}`));
}

function isSameInAll(versions: readonly CustomResourceDefinitionVersion[], part: Shared): boolean {
  return versions.every((version) => deepEqual(orNothing(version[part]), orNothing(versions[0]?.[part])));
}

/** Empty lists are like none. */
const orNothing = (value: unknown): unknown =>
  Array.isArray(value) && value.length === 0 ? undefined : value;

/** The versions as Go prints the internal ones, without the parts that are kept at the top. */
export function internalVersions({ spec }: CustomResourceDefinition): object[] {
  const { versions } = spec;
  const kept = (version: CustomResourceDefinitionVersion, part: Shared): unknown =>
    isSameInAll(versions, part) || version[part] === undefined ? null : internalParts[part](version);
  return versions.map((version) => ({
    Name: version.name ?? '',
    Served: version.served ?? false,
    Storage: version.storage ?? false,
    Deprecated: version.deprecated ?? false,
    DeprecationWarning: version.deprecationWarning ?? null,
    Schema: kept(version, 'schema'),
    Subresources: kept(version, 'subresources'),
    AdditionalPrinterColumns: kept(version, 'additionalPrinterColumns'),
    SelectableFields: kept(version, 'selectableFields'),
  }));
}

const internalParts: Readonly<Record<Shared, (version: CustomResourceDefinitionVersion) => unknown>> = {
  schema: ({ schema }) => ({
    OpenAPIV3Schema: schema?.openAPIV3Schema ? internalSchema(schema.openAPIV3Schema) : null,
  }),
  subresources: ({ subresources }) => ({
    Status: subresources?.status ? {} : null,
    Scale: subresources?.scale
      ? {
          SpecReplicasPath: subresources.scale.specReplicasPath ?? '',
          StatusReplicasPath: subresources.scale.statusReplicasPath ?? '',
          LabelSelectorPath: subresources.scale.labelSelectorPath ?? null,
        }
      : null,
  }),
  additionalPrinterColumns: ({ additionalPrinterColumns }) =>
    additionalPrinterColumns?.map((column) => ({
      Name: column.name ?? '',
      Type: column.type ?? '',
      Format: column.format ?? '',
      Description: column.description ?? '',
      Priority: column.priority ?? 0,
      JSONPath: column.jsonPath ?? '',
    })),
  selectableFields: ({ selectableFields }) =>
    selectableFields?.map(({ jsonPath }) => ({ JSONPath: jsonPath ?? '' })),
};
