import { readFile } from 'node:fs/promises';
import type { OpenAPISchema } from '@tinkernetes/api';

/** What a type and its fields mean, by schema name. */
export type Descriptions = Readonly<
  Record<string, { description?: string; properties?: Readonly<Record<string, string>> } | undefined>
>;

/** The texts that the build has collected; none where there is no such file. */
export async function loadDescriptions(file: string): Promise<Descriptions> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Descriptions;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw error;
  }
}

/**
 * The schemas with their descriptions. A field that refers to a type needs no text of its own: who explains it shows the
 * type's, too. Texts that a schema has already (custom resources bring theirs) stay.
 */
export function withDescriptions(
  schemas: Readonly<Record<string, OpenAPISchema>>,
  descriptions: Descriptions,
): Record<string, OpenAPISchema> {
  const out: Record<string, OpenAPISchema> = {};
  for (const [name, schema] of Object.entries(schemas)) {
    const texts = descriptions[name];
    const properties = Object.entries(schema.properties ?? {}).map(([field, property]) => {
      return [field, described(property, texts?.properties?.[field])] as const;
    });
    out[name] = described(
      { ...schema, ...(schema.properties ? { properties: Object.fromEntries(properties) } : undefined) },
      texts?.description,
    );
  }
  return out;
}

/** A reference allows nothing beside it, so one that is described stands in `allOf`, as upstream writes it. */
function described(schema: OpenAPISchema, description: string | undefined): OpenAPISchema {
  if (description === undefined || schema.description !== undefined) return schema;
  const { $ref, ...rest } = schema;
  return { description, ...rest, ...($ref ? { allOf: [{ $ref }] } : undefined) };
}
