import type { CustomResourceDefinition } from '@tinkernetes/api';
import { goQuote, isObject } from '@tinkernetes/apimachinery';
import { isCheckedFormat } from '../formats';
import type { Schema } from '../structural-schema';
import { partsOf } from './internal-spec';

/** Formats that nobody checks; an update speaks only of new ones. */
export function formatWarnings(
  definition: CustomResourceDefinition,
  old: CustomResourceDefinition | undefined,
): string[] {
  const before = new Set(old ? unknownFormats(old) : []);
  return unknownFormats(definition)
    .filter((format) => !before.has(format))
    .map((format) => `unrecognized format ${goQuote(format)}`);
}

const unknownFormats = (definition: CustomResourceDefinition): string[] =>
  partsOf(definition, 'schema').flatMap(({ value: { openAPIV3Schema } }) =>
    openAPIV3Schema ? formatsIn(openAPIV3Schema) : [],
  );

function formatsIn(schema: Schema): string[] {
  const { format, type, items } = schema;
  const own = format && !isCheckedFormat(format, type) ? [format] : [];
  const parts: unknown[] = [
    ...(Array.isArray(items) ? items : [items]),
    ...(schema.allOf ?? []),
    ...(schema.anyOf ?? []),
    ...(schema.oneOf ?? []),
    schema.not,
    ...Object.values(schema.properties ?? {}),
    schema.additionalProperties,
  ];
  return [...own, ...parts.filter((part) => isObject(part)).flatMap(formatsIn)];
}
